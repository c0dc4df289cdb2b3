//! The five test sets, from a Python package.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::registry::unpacked_wheel;

const REQUIREMENT: &str =
    "svd2vec==0.3.3 --hash=sha256:c44a3939eaffdc1502abba4977282276dfd0c7b7712c62b1d10af354efded1fb\n";
const WHEEL: &str = "svd2vec-0.3.3-py3-none-any.whl";

type Convert = fn(&str) -> Result<String>;

/// Files in a folder of test sets, their paths in the package, and conversions to our format.
const FILES: [(&str, &str, Convert); 5] = [
    ("ws353.tsv", "similarities/wordsim353.txt", word_pairs),
    ("men.tsv", "similarities/men_dataset.txt", word_pairs),
    ("simlex999.tsv", "similarities/simlex999.txt", word_pairs),
    ("msr.txt", "analogies/msr.txt", with_sections),
    ("google.txt", "analogies/questions-words.txt", |set| Ok(set.into())),
];

/// The package has all questions of MSR under one heading, in blocks in which kinds of questions alternate: the number
/// of questions of a block, and its kinds with their positions in the cycle.
const TURNS: [(usize, &[(&str, usize)]); 4] = [
    (3000, &[("JJ_JJR", 0), ("JJR_JJ", 1), ("JJ_JJS", 2), ("JJS_JJ", 3), ("JJR_JJS", 5), ("JJS_JJR", 4)]),
    (1000, &[("NN_NNS", 0), ("NNS_NN", 1)]),
    (1000, &[("NN_NNPOS", 0), ("NNPOS_NN", 1)]),
    (3000, &[("VB_VBD", 0), ("VBD_VB", 1), ("VB_VBZ", 2), ("VBZ_VB", 3), ("VBD_VBZ", 5), ("VBZ_VBD", 4)]),
];

/// Returns the folder of the test sets below `folder`; downloads them if they are missing.
pub fn prepare(folder: &Path) -> Result<PathBuf> {
    let eval = folder.join("eval");
    if !eval.exists() {
        let package = unpacked_wheel(REQUIREMENT, WHEEL, &folder.join("download"))?;
        let partial = folder.join("eval.partial");
        convert(&package.join("svd2vec/datasets"), &partial)?;
        fs::rename(&partial, &eval).with_context(|| format!("could not create {}", eval.display()))?;
    }
    Ok(eval)
}

/// The test sets missing from a folder.
pub fn missing(eval: &Path) -> Vec<&'static str> {
    FILES.map(|(file, ..)| file).into_iter().filter(|file| !eval.join(file).exists()).collect()
}

fn convert(datasets: &Path, eval: &Path) -> Result<()> {
    fs::create_dir_all(eval).with_context(|| format!("could not create {}", eval.display()))?;
    for (file, member, convert) in FILES {
        let from = datasets.join(member);
        let context = || format!("could not convert {}", from.display());
        let set = convert(&fs::read_to_string(&from).with_context(context)?).with_context(context)?;
        let to = eval.join(file);
        fs::write(&to, set).with_context(|| format!("could not write {}", to.display()))?;
    }
    Ok(())
}

/// The lines without comments.
fn word_pairs(set: &str) -> Result<String> {
    Ok(set.lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect())
}

/// The questions of MSR under the headings of their kinds.
fn with_sections(set: &str) -> Result<String> {
    let questions: Vec<&str> = set.lines().filter(|line| !line.starts_with(':')).collect();
    let n_questions: usize = TURNS.iter().map(|(n, _)| n).sum();
    ensure!(questions.len() == n_questions, "there are {} questions, not {n_questions}", questions.len());
    let mut sections = String::new();
    let mut rest = questions.as_slice();
    for (n, kinds) in TURNS {
        let (block, after) = rest.split_at(n);
        rest = after;
        for (kind, turn) in kinds {
            sections += &format!(": {kind}\n");
            sections
                .extend(block.iter().skip(*turn).step_by(kinds.len()).flat_map(|question| [question, "\n"]));
        }
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_word_pairs_go() {
        assert_eq!(
            word_pairs("# WS353\n# where\nlove\tsex\t6.77\ntiger\tcat\t7.35").unwrap(),
            "love\tsex\t6.77\ntiger\tcat\t7.35\n"
        );
    }

    #[test]
    fn questions_that_take_turns_are_sorted() {
        let questions: String = (0..8000).map(|number| format!("a b c {number}\n")).collect();
        let sections = with_sections(&format!(": all\n{questions}")).unwrap();
        assert!(sections.starts_with(": JJ_JJR\na b c 0\na b c 6\n"));
        assert!(sections.contains("\n: JJR_JJS\na b c 5\na b c 11\n"));
        assert!(sections.contains("\n: NNPOS_NN\na b c 4001\na b c 4003\n"));
        assert!(sections.contains("\n: VBZ_VBD\na b c 5004\n") && sections.ends_with("\na b c 7998\n"));
        assert_eq!(sections.lines().count(), 8016);
        let error = with_sections(": all\na b c d\n").unwrap_err();
        assert!(error.to_string().contains("1 questions, not 8000"), "{error}");
    }

    #[test]
    fn all_five_sets_are_converted() {
        let folder = tempfile::tempdir().unwrap();
        for (_, member, _) in FILES {
            let path = folder.path().join(member);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "a b c d\n".repeat(8000)).unwrap();
        }
        let eval = folder.path().join("eval");
        assert_eq!(missing(&eval).len(), FILES.len());
        convert(folder.path(), &eval).unwrap();
        assert!(missing(&eval).is_empty());
    }
}
