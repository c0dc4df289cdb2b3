//! `export`, `import`, and models of other programs.

use std::io::Write;

use crate::desk::{Answer, Desk, text};

const SMALL: &str = "3 2\nberlin 1 0.5\nparis 0.5 -1\nmoon -0.25 3e-5\n";

fn trained() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    desk.train("m", &["--finish", "a.txt"]);
    desk
}

#[track_caller]
fn assert_done(answer: &Answer) {
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[track_caller]
fn assert_refused(answer: &Answer, message: &str) {
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains(message), "no `{message}` in {answer:?}");
}

/// The words and values of a model, as text.
fn as_text(desk: &Desk, model: &str) -> String {
    let answer = desk.run(&["export", "--model", model, "--to", "word2vec-text", "-"]);
    assert_done(&answer);
    answer.out
}

#[test]
fn every_format_makes_a_round_trip() {
    let desk = trained();
    let original = as_text(&desk, "m");
    let formats = [
        ("word2vec-text", "v.txt"),
        ("word2vec-text", "v.txt.gz"),
        ("word2vec-text", "v.txt.zst"),
        ("word2vec-binary", "v.bin"),
        ("word2vec-binary", "v.bin.bz2"),
        ("word2vec-binary", "v.bin.xz"),
        ("safetensors", "v.safetensors"),
        ("npy", "v.npy"),
        ("projector", "folder"),
    ];
    for (format, name) in formats {
        assert_done(&desk.run(&["export", "--model", "m", "--to", format, name]));
        let answer = desk.run(&["import", name, "--model", "back", "--force"]);
        assert_done(&answer);
        assert!(answer.err.contains(&format!(": {format}, ")), "{answer:?}");
        assert!(as_text(&desk, "back") == original, "{name}");
        assert!(as_text(&desk, name) == original, "{name} without an import");
    }
    let neighbors = |model| desk.run(&["neighbors", "--model", model, "moon", "-n", "3"]).out;
    assert_done(&desk.run(&["export", "--model", "m", "--to", "finalfusion", "v.fifu"]));
    let words = |table: String| -> Vec<String> {
        table.lines().map(|line| line.split_whitespace().next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(words(neighbors("v.fifu")), words(neighbors("m")));
}

#[test]
fn formats_with_counts_keep_them() {
    let desk = trained();
    let with_counts = |model| desk.run(&["neighbors", "--model", model, "moon", "--json"]).out;
    for (format, name) in [("safetensors", "v"), ("npy", "v.npy"), ("projector", "folder")] {
        assert_done(&desk.run(&["export", "--model", "m", "--to", format, name]));
        assert_eq!(with_counts(name), with_counts("m"), "{format}");
    }
}

#[test]
fn export_takes_the_format_from_the_name() {
    let desk = trained();
    for (format, name) in [
        ("word2vec-text", "v.txt"),
        ("word2vec-text", "v.vec"),
        ("word2vec-text", "v.TXT.gz"),
        ("word2vec-binary", "v.bin"),
        ("safetensors", "v.safetensors"),
        ("npy", "v.npy"),
        ("finalfusion", "v.fifu"),
        ("parquet", "v.parquet"),
        ("floret", "v.floret.zst"),
    ] {
        assert_done(&desk.run(&["export", "--model", "m", "--to", format, name]));
        let chosen = desk.bytes(name);
        assert_done(&desk.run(&["export", "--model", "m", "--force", name]));
        assert!(desk.bytes(name) == chosen, "{name}");
    }
    // What is typed takes precedence.
    assert_done(&desk.run(&["export", "--model", "m", "--force", "--to", "word2vec-text", "v.npy"]));
    assert_eq!(desk.bytes("v.npy"), desk.bytes("v.vec"));
    for name in ["v", "v.model", "-", "folder/"] {
        let answer = desk.run(&["export", "--model", "m", name]);
        assert_refused(&answer, &format!("{name}: this name does not say the format"));
        for format in ["word2vec-text", "word2vec-binary", "finalfusion", "projector", ".fifu", ".parquet"] {
            assert_refused(&answer, format);
        }
    }
}

#[test]
fn npy_gets_its_extension_as_numpy_does_it() {
    let desk = trained();
    let answer = desk.run(&["export", "--model", "m", "--to", "npy", "--top", "5", "out"]);
    assert_eq!(answer.err, "out.npy and out.words.tsv: 5 words of 16 dimensions\n");
    assert!(
        desk.path("out.npy").exists() && desk.path("out.words.tsv").exists() && !desk.path("out").exists()
    );
}

#[test]
fn export_says_which_files_it_wrote() {
    let desk = trained();
    let answer = desk.run(&["export", "--model", "m", "--to", "npy", "--top", "5", "v.npy"]);
    assert_eq!(answer.err, "v.npy and v.words.tsv: 5 words of 16 dimensions\n");
    let answer = desk.run(&["export", "--model", "m", "--to", "projector", "--top", "5", "folder"]);
    assert_eq!(answer.err, "folder/vectors.tsv and folder/metadata.tsv: 5 words of 16 dimensions\n");
}

#[test]
fn import_says_which_files_it_read() {
    let desk = trained();
    for (format, name, files) in
        [("npy", "v.npy", "v.npy and v.words.tsv"), ("projector", "p", "p/vectors.tsv and p/metadata.tsv")]
    {
        assert_done(&desk.run(&["export", "--model", "m", "--to", format, "--top", "5", name]));
        let answer = desk.run(&["import", name, "--model", "back", "--force"]);
        assert!(
            answer.err.starts_with(&format!("{files}: {format}, 5 words of 16 dimensions\n")),
            "{answer:?}"
        );
    }
}

#[test]
fn words_cannot_be_chosen_by_counts_that_are_not_there() {
    let desk = Desk::new();
    desk.write("v.txt", SMALL);
    assert_done(&desk.run(&["import", "v.txt", "--model", "m"]));
    for model in ["v.txt", "m"] {
        let export = ["export", "--model", model, "--min-count", "2", "--to", "word2vec-text", "-"];
        assert_refused(
            &desk.run(&export),
            "these vectors have no counts, so --min-count cannot select words",
        );
    }
}

#[test]
fn rare_words_are_left_out_and_vectors_normalized() {
    let desk = trained();
    let export =
        ["export", "--model", "m", "--to", "word2vec-text", "--min-count", "1000", "--normalize", "-"];
    let answer = desk.run(&export);
    assert_done(&answer);
    let mut lines = answer.out.lines();
    assert_eq!(lines.next(), Some("12 16"), "twelve words are frequent");
    for line in lines {
        let values = line.split(' ').skip(1).map(|value| value.parse::<f64>().unwrap());
        let squares: f64 = values.map(|value| value * value).sum();
        assert!((squares - 1.0).abs() < 1e-5, "{line}");
    }
    let answer =
        desk.run(&["export", "--model", "m", "--to", "word2vec-text", "--min-count", "9999999", "-"]);
    assert_eq!(answer.out, "0 16\n");
}

#[test]
fn import_takes_the_first_words_of_any_format() {
    let desk = Desk::new();
    desk.write("glove.txt", SMALL.split_once('\n').unwrap().1);
    let answer = desk.run(&["import", "glove.txt", "--model", "m", "--top", "2"]);
    assert_done(&answer);
    assert_eq!(answer.err, "glove.txt: glove, 3 words of 2 dimensions\nm: 2 words, for queries only\n");
    assert_eq!(as_text(&desk, "m"), "2 2\nberlin 1 0.5\nparis 0.5 -1\n");
    assert_eq!(desk.names(), ["glove.txt", "m"], "no lock is left");
}

#[test]
fn a_yskip_model_has_targets_and_contexts() {
    let desk = Desk::new();
    let head = "1\t9\t2\t5\t5\t0.750000\t0.001000\t0.100000\t9\n";
    desk.write("yskip", format!("{head}tea\t7\t1.0 2.0\t0.5 0.25\t0.1 0.1\t0.1 0.1\n"));
    let kinds = [
        ("sum", "2\ntea 1.5 2.25"),
        ("target", "2\ntea 1 2"),
        ("context", "2\ntea 0.5 0.25"),
        ("joined", "4\ntea 0.25 0.5 0.125 0.0625"),
    ];
    for (vectors, line) in kinds {
        let export = ["export", "--model", "yskip", "--vectors", vectors, "--to", "word2vec-text", "-"];
        assert_eq!(desk.run(&export).out, format!("1 {line}\n"));
    }
}

#[test]
fn the_format_can_be_named_and_bad_words_replaced_or_left_out() {
    let desk = Desk::new();
    desk.write("v", "2 1\n3 4\n");
    assert_done(&desk.run(&["import", "v", "--from", "glove", "--model", "m"]));
    assert_eq!(as_text(&desk, "m"), "2 1\n2 1\n3 4\n");
    desk.write("v", b"2 1\na\xc3 1\nb 2\n");
    let import = ["import", "v", "--force", "--model", "m"];
    assert_refused(&desk.run(&import), "v: line 2: a word is not valid UTF-8; use `--invalid-utf8 replace`");
    assert_done(&desk.run(&[&import[..], &["--invalid-utf8", "skip"]].concat()));
    assert_eq!(as_text(&desk, "m"), "1 1\nb 2\n");
    assert_done(&desk.run(&[&import[..], &["--invalid-utf8", "replace"]].concat()));
    assert_eq!(as_text(&desk, "m"), "2 1\na\u{fffd} 1\nb 2\n");
}

#[test]
fn vectors_can_come_through_a_pipe() {
    let desk = Desk::new();
    desk.write("v.txt", SMALL);
    let answer = desk.run_with(SMALL, &["import", "/dev/stdin", "--model", "m"]);
    assert_done(&answer);
    assert_eq!(as_text(&desk, "m"), as_text(&desk, "v.txt"));
}

#[test]
fn import_does_not_replace_a_file_unless_it_is_told_to() {
    let desk = trained();
    desk.write("v.txt", SMALL);
    let before = desk.bytes("m");
    assert_refused(
        &desk.run(&["import", "v.txt", "--model", "m"]),
        "error: m: the file exists; use --force to replace it",
    );
    assert!(desk.bytes("m") == before);
    assert_done(&desk.run(&["import", "v.txt", "--model", "m", "--force"]));
    assert_eq!(as_text(&desk, "m"), as_text(&desk, "v.txt"));
}

#[test]
fn a_model_cannot_be_made_in_a_folder_that_is_not_there() {
    let desk = Desk::new();
    desk.write("v.txt", SMALL);
    assert_refused(&desk.run(&["import", "v.txt", "--model", "no/m"]), "no: there is no such folder");
    assert_refused(&desk.run(&["import", "v.txt", "--from", "word2vec", "--model", "m"]), "invalid value");
    assert_refused(&desk.run(&["import", "v.txt"]), "--model <PATH>");
}

#[test]
fn imported_vectors_are_not_trained() {
    let desk = Desk::new();
    desk.write("v.txt", SMALL);
    desk.write("a.txt", text(1_000, 1));
    assert_done(&desk.run(&["import", "v.txt", "--model", "m"]));
    assert_refused(&desk.run(&["train", "--model", "m", "a.txt"]), "train --init m");
}

#[test]
fn there_is_one_kind_of_vectors_in_files_of_other_programs() {
    let desk = Desk::new();
    desk.write("v.txt", SMALL);
    let neighbors = ["neighbors", "--model", "v.txt", "--vectors", "target", "moon"];
    assert_refused(
        &desk.run(&neighbors),
        "v.txt: this file has one kind of vectors only; it has no separate target vectors",
    );
}

#[test]
fn files_that_are_not_read_are_refused_with_what_to_do() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("folder")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(SMALL.repeat(50).as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let files: [(&str, &[u8], &str); 15] = [
        ("empty", b"", "empty: the file is empty"),
        ("model.bin", b"\xba\x16\x4f\x2f\x0c\0\0\0", "use the .vec file"),
        ("vectors.kv", b"\x80\x04\x95\0", "gensim.models.KeyedVectors.load"),
        ("prose", b"no vectors here\n", "prose: not a model file"),
        (
            "vectors.tsv",
            b"0.5\t1\n",
            "numbers without words; to read the projector's vectors.tsv, name its folder",
        ),
        ("zip", b"PK\x03\x04\0\0", "zip: zip is not supported; decompress the file first"),
        ("more", b"3 1\na 1\nb 2\n", "more: the first line states 3 words; the file has 2"),
        ("fewer", b"1 1\na 1\nb 2\n", "fewer: line 3: more data than the header states"),
        ("wide", b"2 3\na 1 2\nb 1 2\n", "wide: line 2: 2 values; expected 3"),
        ("none", b"1 0\na\n", "0 dimensions; the number must be from 1 to 65536"),
        (
            "vast",
            b"9 1000000000000000000\na 1\n",
            "1000000000000000000 dimensions; the number must be from 1 to 65536",
        ),
        ("twice", b"2 1\na 1\na 2\n", "twice: line 3: `a` is repeated; it is also word 1"),
        ("nan", b"1 2\na 1 nan\n", "nan: line 2: value 2 of word 1 is NaN; it must be finite"),
        ("cut.gz", &gzip[..gzip.len() - 9], "cut.gz: the gzip data is damaged or cut short"),
        ("cut.bin", b"2 2\na \0\0\0\0\0\0\0\0\nb \0\0", "cut.bin: byte 17: the file ends in a vector"),
    ];
    for (name, bytes, message) in files {
        desk.write(name, bytes);
        assert_refused(&desk.run(&["import", name, "--model", "m"]), message);
        assert_refused(&desk.run(&["neighbors", "--model", name, "a"]), message);
    }
    for (name, message) in [
        ("folder", "folder: this folder has no vectors.tsv of the embedding projector"),
        ("missing", "missing: No such file or directory"),
    ] {
        assert_refused(&desk.run(&["import", name, "--model", "m"]), message);
    }
    assert!(!desk.names().contains(&"m".to_owned()));
}

#[test]
fn a_line_without_an_end_is_refused_early() {
    let desk = Desk::new();
    // As many bytes as the longest line may have, and some more.
    desk.write("long", [b"1 1\n".to_vec(), vec![b'a'; 5_000_000]].concat());
    assert_refused(
        &desk.run(&["import", "long", "--from", "word2vec-text", "--model", "m"]),
        "long: line 2: the line is longer than 4259840 bytes",
    );
}

#[test]
fn a_file_of_two_that_is_missing_or_does_not_fit_is_refused() {
    let desk = trained();
    assert_done(&desk.run(&["export", "--model", "m", "--to", "npy", "v.npy"]));
    desk.write("v.words.tsv", "moon\t2\nstar\t1\n");
    assert_refused(
        &desk.run(&["neighbors", "--model", "v.npy", "moon"]),
        " vectors; v.words.tsv has 2 words",
    );
    std::fs::remove_file(desk.path("v.words.tsv")).unwrap();
    assert_refused(&desk.run(&["neighbors", "--model", "v.npy", "moon"]), "v.words.tsv: No such file");
}

#[test]
fn quantized_vectors_answer_as_the_others_do() {
    let desk = trained();
    let neighbors = |model| desk.run(&["neighbors", "--model", model, "moon", "-n", "3", "--json"]);
    let words = |model| -> Vec<String> {
        let answer: serde_json::Value = serde_json::from_str(&neighbors(model).out).unwrap();
        let found = answer["neighbors"].as_array().unwrap().iter();
        found.map(|neighbor| neighbor["word"].to_string()).collect()
    };
    let mut sizes = vec![desk.bytes("m").len()];
    for quantize in ["f16", "int8"] {
        let export = ["export", "--model", "m", "--to", "safetensors", "--quantize", quantize, quantize];
        assert_done(&desk.run(&export));
        sizes.push(desk.bytes(quantize).len());
        assert_eq!(words(quantize), words("m"));
        let inspection = desk.run(&["inspect", "--model", quantize]);
        assert!(inspection.out.contains(&format!(" dimensions, in {quantize}\n")), "{}", inspection.out);
        // It is written as it is.
        assert_done(&desk.run(&["export", "--model", quantize, "--to", "safetensors", "again", "--force"]));
        assert!(desk.bytes("again") == desk.bytes(quantize));
        let refused = ["export", "--model", "m", "--to", "npy", "--quantize", quantize, "v.npy"];
        assert_refused(&desk.run(&refused), "v.npy: npy cannot be written quantized; safetensors can");
    }
    assert!(sizes.is_sorted_by(|larger, smaller| larger > smaller), "{sizes:?}");
    let refused = ["export", "--model", "m", "--to", "safetensors", "--quantize", "int4", "v"];
    assert_refused(&desk.run(&refused), "invalid value 'int4' for '--quantize <TYPE>'");
}

#[test]
fn exports_that_make_no_sense_are_refused() {
    let desk = trained();
    for (format, out, message) in [
        ("npy", "v.npy.gz", "npy cannot be written compressed; use a name without this extension"),
        ("safetensors", "v.zst", "safetensors cannot be written compressed"),
        ("finalfusion", "v.fifu.xz", "finalfusion cannot be written compressed"),
        ("npy", "-", "npy cannot be written to a pipe; name a file"),
        ("projector", "-", "projector cannot be written to a pipe"),
        ("safetensors", "-", "safetensors cannot be written to a pipe"),
        ("word2vec-text", "no/folder/v.txt", "no/folder/.v.txt.partial: No such file or directory"),
        ("projector", "a.txt", "a.txt: "),
        ("word2vec-text", "/", "error: "),
        ("glove", "v.txt", "invalid value 'glove' for '--to <FORMAT>'"),
    ] {
        assert_refused(&desk.run(&["export", "--model", "m", "--to", format, out]), message);
    }
    assert_eq!(desk.names(), ["a.txt", "m"]);
}

#[test]
fn export_does_not_replace_what_it_reads_or_a_model_that_can_be_trained() {
    let desk = trained();
    desk.train("other", &["--finish", "a.txt"]);
    desk.write("v.txt", SMALL);
    let before = [desk.bytes("m"), desk.bytes("other")];
    for format in ["safetensors", "word2vec-text", "word2vec-binary"] {
        let export = |out| desk.run(&["export", "--model", "m", "--to", format, out]);
        assert_refused(&export("./m"), "m: the vectors are read from this file; write to another one");
        assert_refused(&export("other"), "error: other: this is a model file, whose training state");
    }
    let again = ["export", "--model", "v.txt", "--to", "word2vec-text", "v.txt"];
    assert_refused(&desk.run(&again), "v.txt: the vectors are read from this file");
    assert!([desk.bytes("m"), desk.bytes("other")] == before);
    assert_eq!(desk.names(), ["a.txt", "m", "other", "v.txt"]);
}

#[test]
fn files_that_exist_are_replaced_only_by_force() {
    let desk = trained();
    desk.write("v.vec", SMALL);
    for (command, file) in [
        (&["export", "--model", "m", "--to", "word2vec-text", "out"][..], "out"),
        (&["export", "--model", "m", "--to", "npy", "out.npy"], "out.words.tsv"),
        (&["import", "v.vec", "--model", "imported"], "imported"),
        (&["diff", "m", "m", "--html", "page.html"], "page.html"),
    ] {
        desk.write(file, "of somebody");
        let message = format!("{file}: the file exists; use --force to replace it");
        assert_refused(&desk.run(command), &message);
        assert_eq!(desk.bytes(file), b"of somebody");
        assert_done(&desk.run(&[command, &["--force"]].concat()));
        assert!(desk.bytes(file) != b"of somebody");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed_and_is_replaced_only_by_force() {
    let desk = trained();
    desk.write("file", "of somebody");
    for target in ["file", "nowhere"] {
        let _ = std::fs::remove_file(desk.path("out"));
        std::os::unix::fs::symlink(target, desk.path("out")).unwrap();
        let export = ["export", "--model", "m", "--to", "word2vec-text", "out", "--force"];
        assert_refused(&desk.run(&export[..6]), "out: the file exists; use --force to replace it");
        assert_done(&desk.run(&export));
        assert!(!desk.path("out").is_symlink());
        assert_eq!(desk.bytes("file"), b"of somebody");
    }
}

#[test]
fn words_that_a_format_cannot_hold_are_named() {
    let desk = Desk::new();
    desk.write("glove.txt", "the 1 2\nnew york 3 4\n");
    let export = |format, out| desk.run(&["export", "--model", "glove.txt", "--to", format, out]);
    assert_refused(&export("word2vec-text", "v.txt"), "the format cannot represent the word `new york`");
    assert_done(&export("npy", "v.npy"));
    assert_eq!(desk.bytes("v.words.tsv"), b"the\nnew york\n");
}

#[test]
fn text_with_wrong_values_is_not_taken_for_binary() {
    let desk = Desk::new();
    desk.write("commas.vec", "2 2\n</s> 0.1 0.2\nof 0,3 0,4\n");
    let answer = desk.run(&["import", "commas.vec", "--model", "m"]);
    assert_refused(&answer, "line 3: value 1 is `0,3`");
    desk.write("letter.vec", "2 3\na 1 2 3\nb 1 2 x\n");
    assert_refused(&desk.run(&["import", "letter.vec", "--model", "m"]), "line 3: value 3 is `x`");
}

#[test]
fn counts_that_are_not_there_are_not_invented() {
    let desk = Desk::new();
    desk.write("v.txt", SMALL);
    assert_done(&desk.run(&["import", "v.txt", "--model", "m"]));
    for model in ["v.txt", "m"] {
        let answer = desk.run(&["neighbors", "--model", model, "berlin"]);
        assert_done(&answer);
        assert!(!answer.out.contains("count"), "{answer:?}");
        let answer = desk.run(&["neighbors", "--model", model, "--json", "berlin"]);
        assert!(answer.out.contains("\"count\":null"), "{answer:?}");
        let answer = desk.run(&["analogy", "--model", model, "--json", "berlin", "paris", "berlin"]);
        assert!(answer.out.contains("\"count\":null"), "{answer:?}");
        let answer = desk.run(&["diff", "--min-count", "3", model, model]);
        assert_done(&answer);
        assert!(answer.out.contains("3 words, 3 compared\ncounts    none in either"), "{answer:?}");
        assert_done(&desk.run(&["export", "--model", model, "--to", "npy", "v.npy", "--force"]));
        assert_eq!(std::fs::read_to_string(desk.path("v.words.tsv")).unwrap(), "berlin\nparis\nmoon\n");
        assert_done(&desk.run(&["export", "--model", model, "--to", "projector", "folder", "--force"]));
        let metadata = std::fs::read_to_string(desk.path("folder").join("metadata.tsv")).unwrap();
        assert_eq!(metadata, "berlin\nparis\nmoon\n");
    }
    assert_eq!(desk.run(&["inspect", "--model", "m", "--words"]).out, "berlin\nparis\nmoon\n");
}
