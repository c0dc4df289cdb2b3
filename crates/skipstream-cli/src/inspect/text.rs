//! The contents of a model file as text.

use indicatif::DecimalBytes;
use serde_json::Value;
use skipstream::snapshot::{Checksum, FileKind, Inspection, Noise, Norms, TensorReport, TrainingState};
use skipstream::{MiniBatchOptions, Strategy};

use crate::output::count;
use crate::table::Table;

/// A list of facts, and tables of settings, sources, norms and tensors.
pub fn text(inspection: &Inspection) -> String {
    let mut parts = vec![facts(inspection)];
    if let Some(training) = &inspection.training {
        parts.push(settings(training));
        parts.extend(sources(training));
    }
    parts.extend(norms(&inspection.norms));
    parts.push(tensors(&inspection.tensors));
    parts.join("\n")
}

fn facts(inspection: &Inspection) -> String {
    let contents = match inspection.contents {
        FileKind::Training => "a model that can be trained further",
        FileKind::Vectors => "vectors, for queries only",
    };
    let mut lines = vec![
        ("file", format!("{}, {}", inspection.path.display(), DecimalBytes(inspection.file_bytes))),
        ("contents", contents.to_owned()),
        ("written by", format!("{}, format version {}", inspection.program, inspection.version)),
    ];
    if let Some(origin) = &inspection.origin {
        let vectors = origin.vectors.map_or(String::new(), |vectors| format!(", its {vectors} vectors"));
        lines.push(("taken from", format!("{} ({}){vectors}", origin.source, origin.format)));
    }
    let quantized =
        inspection.quantization.map_or(String::new(), |quantization| format!(", in {quantization}"));
    let words =
        format!("{} words of {} dimensions{quantized}", count(inspection.words), inspection.dimensions);
    match &inspection.training {
        None => lines.push(("vocabulary", words)),
        Some(training) => lines.extend(training_facts(training, words)),
    }
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.into_iter().map(|(name, fact)| format!("{name:width$}  {fact}\n")).collect()
}

fn training_facts(training: &TrainingState, words: String) -> Vec<(&'static str, String)> {
    let totals = training.vocabulary;
    let exponent = training.settings.noise_exponent;
    let noise = match training.noise {
        Noise::Counts => format!("count ^ {exponent}, updated for each batch"),
        Noise::AdaptiveTable { filled, table_size, weight, dead_weight } => format!(
            "count ^ {exponent}, adaptive table with {} of {} slots filled; weight {weight:.0}, {dead_weight:.0} of it from \
             evicted words",
            count(filled),
            count(table_size)
        ),
    };
    let evictions = match totals.evictions {
        0 => "no evictions".to_owned(),
        n => format!("{} evictions, counting a word each time it left", count(n)),
    };
    let room = count(training.settings.max_vocabulary);
    let mut lines = vec![
        ("learned", format!("{} words, {} pairs", count(totals.tokens), count(training.pairs))),
        ("loss", format!("{:.4}, the mean of all pairs so far", training.mean_loss)),
        ("vocabulary", format!("{words}, at most {room}; {evictions}")),
        ("noise", noise),
    ];
    if let Strategy::MiniBatch(MiniBatchOptions { replay_words, replays, .. }) = training.settings.strategy {
        let replayed = count(training.replayed);
        let waiting = training.waiting.map_or_else(|| "an unknown number".to_owned(), count);
        let room = count(replay_words as u64 * u64::from(replays));
        lines.push(("replay", format!("{replayed} words trained again, {waiting} wait (at most {room})")));
    }
    if let Some(phrases) = training.phrases {
        let score = training.settings.phrases.score.as_str();
        lines.push(("phrases", format!("{}; new ones are found: {score}", count(phrases))));
    }
    let controls = &training.controls;
    if !controls.is_empty() {
        let (pinned, blocked, merged) = (&controls.pinned, &controls.blocked, &controls.merged);
        let kept_out = count(controls.kept_out.len());
        let [pinned, blocked, merged] = [pinned.len(), blocked.len(), merged.len()].map(count);
        let fact =
            format!("{pinned} pinned, {blocked} blocked, {merged} merged, {kept_out} forgotten and kept out");
        lines.push(("controls", fact));
    }
    if let Some(initial) = &training.initial {
        lines.push(("started from", format!("{} (BLAKE3 {})", initial.file, initial.fingerprint)));
    }
    lines
}

/// Every setting, under its name in the library and in JSON.
fn settings(training: &TrainingState) -> String {
    let mut table = Table::new(["setting", "value"]);
    let mut add = |name: &str, value: &Value| {
        let value = match value {
            Value::Null => "none".to_owned(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        table.row([name.to_owned(), value]);
    };
    // By way of text, in which 0.2 is 0.2 and not what is left of it in 32 bits.
    let json = serde_json::to_string(&training.settings).unwrap_or_default();
    if let Ok(Value::Object(fields)) = serde_json::from_str(&json) {
        for (name, value) in &fields {
            match value {
                Value::Object(inner) => inner.iter().for_each(|(name, value)| add(name, value)),
                value => add(name, value),
            }
        }
    }
    table.text()
}

fn sources(training: &TrainingState) -> Option<String> {
    let ledger = &training.ledger;
    let mut table = Table::new(["source", "words", "bytes of text", ""]);
    for source in &ledger.sources {
        let state = if source.complete { "to its end" } else { "up to here" };
        table.row([
            source.path.display().to_string(),
            count(source.words),
            count(source.position.offset),
            state.to_owned(),
        ]);
    }
    if ledger.piped_bytes > 0 {
        table.row(["pipes".to_owned(), count(ledger.piped_words), count(ledger.piped_bytes), String::new()]);
    }
    for (name, stream) in &ledger.streams {
        table.row([name.clone(), count(stream.words), String::new(), "up to here".to_owned()]);
    }
    let is_empty = ledger.sources.is_empty() && ledger.piped_bytes == 0 && ledger.streams.is_empty();
    (!is_empty).then(|| table.text())
}

fn norms(norms: &[Norms]) -> Option<String> {
    let mut table = Table::new(["norms", "mean", "min", "median", "max"]);
    let number = |value: f64| format!("{value:.3}");
    for matrix in norms {
        let all = [matrix.mean, matrix.min, matrix.median, matrix.max].map(number);
        table.row([matrix.tensor.clone()].into_iter().chain(all));
        for band in &matrix.by_rank {
            let ranks = format!("  words {} to {}", count(band.first), count(band.last));
            table.row([ranks, number(band.mean)]);
        }
    }
    (!norms.is_empty()).then(|| table.text())
}

fn tensors(tensors: &[TensorReport]) -> String {
    let mut table = Table::new(["tensor", "type", "shape", "bytes", "checksum"]);
    for TensorReport { name, dtype, shape, bytes, checksum, .. } in tensors {
        let shape = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ");
        let checksum = match checksum {
            Checksum::Verified => "verified",
            Checksum::Wrong => "WRONG",
        };
        table.row([name.clone(), dtype.to_lowercase(), shape, count(*bytes), checksum.to_owned()]);
    }
    table.text()
}
