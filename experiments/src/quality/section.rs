//! The figures, tables and words of the report.

use std::path::Path;

use anyhow::Result;
use skipstream::{Config, Vectors};

use super::scores::{Difference, Scores, Verdict};
use super::{FREQUENT, Method, SHARED};
use crate::markdown::{listed, spread, table};
use crate::peers::setting::Setting;
use crate::plot::{BarSeries, Bars};
use crate::record::Manifest;
use crate::scores::{Measure, Set};
use crate::section::{Answer, Section};
use crate::text::grouped;

const SETTINGS: [Setting; 2] = [Setting::Small, Setting::Paper];
const PAIRS: [Set; 3] = [Set::Ws353, Set::Men, Set::SimLex];
const ANALOGIES: [Set; 2] = [Set::Msr, Set::Google];

/// The methods of the paper's figure.
const FIGURE: [Method; 7] = [
    Method::Incremental,
    Method::Incremental60,
    Method::Incremental40,
    Method::MiniBatch,
    Method::Batch,
    Method::OurWord2vec,
    Method::Word2vec,
];

/// One pass of ours, and what others make of one and of five.
const PASSES: [Method; 10] = [
    Method::MiniBatch,
    Method::MiniBatchReplay,
    Method::Word2vec,
    Method::Word2vecFast,
    Method::Word2vecFive,
    Method::Gensim,
    Method::GensimFast,
    Method::GensimFive,
    Method::Fasttext,
    Method::FasttextFive,
];

const FIVE_PASSES: [Method; 3] = [Method::Word2vecFive, Method::GensimFive, Method::FasttextFive];

/// Draws the figures and writes the section.
pub fn section(folder: &Path) -> Result<Section> {
    let scores = Scores::read(folder, SHARED)?;
    let frequent = Scores::read(folder, FREQUENT)?;
    let settings: Vec<Setting> =
        SETTINGS.into_iter().filter(|&setting| !scores.methods(setting).is_empty()).collect();
    let manifest = Manifest::read(folder)?;
    let mut body = introduction(&manifest, &scores);
    for &setting in &settings {
        body += &of_setting(&scores, setting, folder)?;
    }
    body += &against_batch(&scores, &settings);
    body += &smaller_vocabulary(&scores, &frequent, &settings);
    body += &one_pass_against_five(&scores, &manifest, &settings);
    body += &targets_only(&scores, &settings);
    body += &differences_from_the_paper(&scores, &settings);
    Ok(Section { answers: answers(&scores, &frequent, &settings), body })
}

fn introduction(manifest: &Manifest, scores: &Scores) -> String {
    let texts: Vec<String> = SETTINGS
        .iter()
        .zip(&manifest.sources)
        .map(|(setting, source)| {
            format!("the first {} words with {}", grouped(source.words), called(*setting))
        })
        .collect();
    let scored: Vec<String> = SETTINGS
        .iter()
        .map(|&setting| format!("{} with {}", grouped(scores.n_scored(setting) as u64), called(setting)))
        .collect();
    let not_run: Vec<String> = SETTINGS
        .iter()
        .flat_map(|&setting| {
            let run = scores.methods(setting);
            let missing = Method::ALL.into_iter().filter(move |method| !run.contains(method));
            missing.map(move |method| format!("{} with {}", method.name(), called(setting)))
        })
        .collect();
    let not_run = match not_run.as_slice() {
        [] => String::new(),
        missing => format!("\nNot run: {}.\n", listed(missing)),
    };
    format!(
        "## Quality (section 5.2, Figure 2 (a) and (b))

Every method learned the same text, the Wikipedia of 2006 ({}), once, unless it says otherwise, on one thread. *incremental*
is Algorithm 1, *mini-batch* Algorithm 2, and *mini-batch with replay* is what skipstream does by default: each word is
trained once more, from a buffer of past text of at most {} words. *batch* counts the whole text first and takes AdaGrad, *word2vec (ours)* the same
with a rate that falls linearly from 0.025. *word2vec.c* is Mikolov's program, at its own rate of 0.025 and at 0.1; *gensim*
likewise; *fastText* without subwords, at its rate of 0.05.

The programs with a threshold left out words that occur fewer than 5 times. Ours were given as many words as that leaves as
the bound on their vocabulary, or 60 % and 40 % of it (the paper's 240,000, 150,000 and 100,000 words).

Numbers are per cent: Spearman's correlation on word pairs, accuracy on analogies by 3CosMul, as in the paper, unless 3CosAdd
is named. They are mean ± standard deviation over {} seeds, over the words that each method counted most often ({}): so many
that every method with the whole bound has them. The questions that these methods could be asked differ by {:.1} % at the most.
Vectors are target + context, as in the paper; word2vec.c gives targets only. word2vec.c and fastText take no seed: for them
the text begins at another place each time.
{not_run}",
        listed(&texts),
        grouped(Config::default().replay_words as u64),
        scores.n_seeds(),
        listed(&scored),
        100.0 * widest_coverage_gap(scores),
    )
}

/// By how much the questions differ that the methods with the whole bound could be asked, as a share of them.
fn widest_coverage_gap(scores: &Scores) -> f64 {
    let mut widest: f64 = 0.0;
    for setting in SETTINGS {
        for set in Set::ALL {
            let whole = |method: &Method| ![Method::Incremental60, Method::Incremental40].contains(method);
            let methods = scores.methods(setting).into_iter().filter(whole);
            let used: Vec<f64> = methods
                .filter_map(|method| scores.coverage(setting, method, set))
                .map(|(used, _)| used)
                .collect();
            let least = used.iter().copied().fold(f64::INFINITY, f64::min);
            let most = used.iter().copied().fold(0.0, f64::max);
            if most > 0.0 {
                widest = widest.max((most - least) / most);
            }
        }
    }
    widest
}

fn called(setting: Setting) -> &'static str {
    match setting {
        Setting::Small => "our defaults",
        Setting::Paper => "the paper's settings",
    }
}

fn of_setting(scores: &Scores, setting: Setting, folder: &Path) -> Result<String> {
    let name = setting.name();
    let figures = [
        (format!("pairs-{name}.svg"), "Word pairs", &FIGURE[..], &PAIRS[..]),
        (format!("analogies-{name}.svg"), "Analogies", &FIGURE[..], &ANALOGIES[..]),
        (format!("passes-pairs-{name}.svg"), "One pass and five, word pairs", &PASSES[..], &PAIRS[..]),
        (format!("passes-analogies-{name}.svg"), "One pass and five, analogies", &PASSES[..], &ANALOGIES[..]),
    ];
    for (file, title, methods, sets) in &figures {
        bars(scores, setting, title, methods, sets).save(&folder.join(file))?;
    }
    let head = [
        "method",
        "words known",
        "WS353",
        "MEN",
        "SimLex-999",
        "MSR",
        "Google",
        "MSR, 3CosAdd",
        "Google, 3CosAdd",
    ];
    let rows = scores.methods(setting).into_iter().map(|method| {
        let mut row = vec![method.name().to_owned(), whole(scores.vocabulary(setting, method))];
        row.extend(Set::ALL.map(|set| spread(scores.reported(setting, method, set), 1)));
        let vectors = scores.best_vectors(method);
        row.extend(
            ANALOGIES.map(|set| spread(scores.spread(setting, method, vectors, set, Measure::CosAdd), 1)),
        );
        row
    });
    Ok(format!(
        "
### With {} ({} dimensions, window {}, {} negatives, subsampling at {})

![Spearman's correlation on word pairs for the methods of the paper]({})
![Accuracy on analogies for the methods of the paper]({})

{}
{}",
        called(setting),
        setting.dimensions(),
        setting.window(),
        setting.negatives(),
        setting.subsample(),
        figures[0].0,
        figures[1].0,
        table(&head, rows),
        coverage(scores, setting),
    ))
}

fn bars(scores: &Scores, setting: Setting, title: &str, methods: &[Method], sets: &[Set]) -> Bars {
    let run = scores.methods(setting);
    let series = methods.iter().filter(|method| run.contains(method)).map(|&method| BarSeries {
        label: method.name().into(),
        values: sets
            .iter()
            .map(|&set| scores.reported(setting, method, set).map(|spread| (spread.mean, spread.deviation)))
            .collect(),
    });
    let measure =
        if sets == PAIRS { "Spearman's correlation, per cent" } else { "accuracy (3CosMul), per cent" };
    Bars {
        title: format!("{title}, {}", called(setting)),
        y_label: measure.into(),
        groups: sets.iter().map(|set| set.name().into()).collect(),
        series: series.collect(),
    }
}

/// The share of questions whose words were known, once for the methods that share it.
fn coverage(scores: &Scores, setting: Setting) -> String {
    let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for method in scores.methods(setting) {
        let cells: Vec<String> = Set::ALL
            .iter()
            .map(|&set| match scores.coverage(setting, method, set) {
                Some((used, total)) => {
                    format!("{} of {}", grouped(used.round() as u64), grouped(total as u64))
                }
                None => "–".into(),
            })
            .collect();
        match groups.iter_mut().find(|(shared, _)| *shared == cells) {
            Some((_, methods)) => methods.push(method.name().into()),
            None => groups.push((cells, vec![method.name().into()])),
        }
    }
    let rows = groups.into_iter().map(|(cells, methods)| [vec![methods.join("; ")], cells].concat());
    let head = ["questions that could be asked", "WS353", "MEN", "SimLex-999", "MSR", "Google"];
    format!("Of MSR's questions, 1,000 hold possessives, which no text of a–z has.\n\n{}", table(&head, rows))
}

fn against_batch(scores: &Scores, settings: &[Setting]) -> String {
    let methods = [Method::Incremental, Method::IncrementalAll, Method::MiniBatch, Method::MiniBatchReplay];
    let rows = settings.iter().flat_map(|&setting| {
        methods.map(|method| {
            let name = format!("{} − batch, {}", method.name(), called(setting));
            differences(scores, setting, name, method, Method::Batch)
        })
    });
    format!(
        "
### One pass against counting first

The theorems say that in the long run the noise distribution that moves with the stream makes no difference to that of the whole
text. Points of difference to *batch* ± the standard error of the difference, from the spread over seeds (pooled over our
methods); bold where it is more than twice that, which one in twenty is by chance. *batch* has counted the whole text and keeps its words. A stream has to let
words go to make room, and one that comes back starts anew: *incremental, all words* has room for every word, so it shows
how much of the difference is this and how much is the moving noise.

{}
{}\n",
        table(&with_sets("difference"), rows),
        settings.iter().map(|&setting| batch_sentence(scores, setting)).collect::<Vec<_>>().join("\n"),
    )
}

fn batch_sentence(scores: &Scores, setting: Setting) -> String {
    let methods = [Method::Incremental, Method::IncrementalAll, Method::MiniBatch];
    let sentences =
        methods.map(|method| format!("*{}* {}", method.name(), told(scores, setting, method, Method::Batch)));
    format!("- With {}: {}.", called(setting), sentences.join("; "))
}

/// `is the same as batch on …, ahead on … and behind on …`.
fn told(scores: &Scores, setting: Setting, method: Method, other: Method) -> String {
    let on = |verdict: Verdict| -> Vec<String> {
        let has_verdict = |set: &Set| {
            scores
                .difference(setting, method, other, *set)
                .is_some_and(|difference| difference.verdict() == verdict)
        };
        Set::ALL
            .into_iter()
            .filter(has_verdict)
            .map(|set| points(scores, setting, method, other, set))
            .collect()
    };
    let words = [
        (Verdict::Same, "is the same within the spread on"),
        (Verdict::Ahead, "is ahead on"),
        (Verdict::Behind, "is behind on"),
        (Verdict::NotJudged, "was run with one seed, which is not enough to judge, on"),
    ];
    let parts: Vec<String> = words
        .into_iter()
        .filter_map(|(verdict, words)| {
            let sets = on(verdict);
            match sets.len() {
                0 => None,
                n if n == Set::ALL.len() => Some(format!("{words} all five sets ({})", sets.join(", "))),
                _ => Some(format!("{words} {}", listed(&sets))),
            }
        })
        .collect();
    if parts.is_empty() { "was not compared".into() } else { listed(&parts) }
}

fn points(scores: &Scores, setting: Setting, method: Method, other: Method, set: Set) -> String {
    match scores.difference(setting, method, other, set) {
        Some(difference) => format!("{} ({:+.1})", set.name(), difference.mean),
        None => set.name().into(),
    }
}

fn differences(
    scores: &Scores,
    setting: Setting,
    name: String,
    method: Method,
    other: Method,
) -> Vec<String> {
    let mut row = vec![name];
    row.extend(Set::ALL.map(|set| match scores.difference(setting, method, other, set) {
        None => "–".into(),
        Some(difference) => shown(difference),
    }));
    row
}

fn shown(difference: Difference) -> String {
    let Some(standard_error) = difference.standard_error else { return format!("{:+.1}", difference.mean) };
    let text = format!("{:+.1} ± {standard_error:.1}", difference.mean);
    if difference.verdict() == Verdict::Same { text } else { format!("**{text}**") }
}

fn with_sets(first: &'static str) -> Vec<&'static str> {
    [&[first], &Set::ALL.map(Set::name)[..]].concat()
}

fn smaller_vocabulary(scores: &Scores, frequent: &Scores, settings: &[Setting]) -> String {
    let methods = [Method::Incremental60, Method::Incremental40];
    let mut rows = Vec::new();
    for &setting in settings {
        for method in methods {
            let name = format!("{} − incremental, {}", method.name(), called(setting));
            rows.push(differences(frequent, setting, name, method, Method::Incremental));
            let mut lost = vec!["questions lost".to_owned()];
            lost.extend(Set::ALL.map(|set| {
                let of = |method| scores.coverage(setting, method, set).map(|(used, _)| used);
                match (of(Method::Incremental), of(method)) {
                    (Some(all), Some(some)) if all > 0.0 => format!("{:.1} %", 100.0 * (all - some) / all),
                    _ => "–".into(),
                }
            }));
            rows.push(lost);
        }
    }
    let n_words: Vec<String> = settings
        .iter()
        .map(|&setting| format!("{} with {}", grouped(frequent.n_scored(setting) as u64), called(setting)))
        .collect();
    format!(
        "
### A smaller vocabulary

What the bound m on the vocabulary costs, in two ways. The words that stay: points of difference on the same questions, over the most
frequent words that all three know ({}). The words that leave: the share of the questions above that can no longer be asked.
(The tables above are over the questions that are left: those of more frequent words, with fewer words to choose from.)

{}",
        listed(&n_words),
        table(&with_sets("difference"), rows)
    )
}

fn one_pass_against_five(scores: &Scores, manifest: &Manifest, settings: &[Setting]) -> String {
    let buffer = Config::default().replay_words as f64;
    let shares: Vec<String> = SETTINGS
        .iter()
        .zip(&manifest.sources)
        .map(|(setting, source)| {
            let share = (buffer / source.words as f64).min(1.0);
            format!("{:.0} % of the text with {}", 100.0 * share, called(*setting))
        })
        .collect();
    let mut text = format!(
        "
### Reading once against five passes

*mini-batch* reads the text once and trains each word once. *mini-batch with replay* reads it once and trains each word twice;
the buffer that the second time comes from holds {}, which on a short text comes close to a second pass. Points of
difference to the others' five passes (of target vectors against word2vec.c):

",
        listed(&shares)
    );
    let rows = settings.iter().flat_map(|&setting| {
        let run = scores.methods(setting);
        FIVE_PASSES.into_iter().filter(move |method| run.contains(method)).flat_map(move |other| {
            [Method::MiniBatch, Method::MiniBatchReplay].map(|method| {
                let name = format!("{} − {}, {}", method.name(), other.name(), called(setting));
                differences(scores, setting, name, method, other)
            })
        })
    });
    text += &table(&with_sets("difference"), rows);
    for &setting in settings {
        let name = setting.name();
        text += &format!(
            "\n![One pass of skipstream against one and five of others, word pairs](passes-pairs-{name}.svg)\n\
             ![The same for analogies](passes-analogies-{name}.svg)\n"
        );
    }
    text
}

fn targets_only(scores: &Scores, settings: &[Setting]) -> String {
    let rows =
        settings.iter().flat_map(|&setting| {
            scores.methods(setting).into_iter().map(move |method| {
                let mut row = vec![format!("{}, {}", method.name(), called(setting))];
                row.extend(Set::ALL.map(|set| {
                    spread(scores.spread(setting, method, Vectors::Target, set, set.measure()), 1)
                }));
                row
            })
        });
    format!(
        "
### Target vectors alone

The same models, without the context vectors, so that word2vec.c, which does not give them, is on equal terms.

{}",
        table(&with_sets("method"), rows)
    )
}

fn differences_from_the_paper(scores: &Scores, settings: &[Setting]) -> String {
    let mut text = "
### Where this differs from the paper

The paper trained on Gigaword, a far larger text, and saw *incremental*, *batch* and *w2v* perform equally well.
"
    .to_owned();
    for &setting in settings {
        let n_behind = |method| {
            let is_behind = |set: &Set| {
                let difference = scores.difference(setting, method, Method::Batch, *set);
                difference.is_some_and(|difference| difference.verdict() == Verdict::Behind)
            };
            Set::ALL.iter().filter(|set| is_behind(set)).count()
        };
        let (bounded, unbounded) = (n_behind(Method::Incremental), n_behind(Method::IncrementalAll));
        let cause = if bounded == 0 {
            "no difference to explain".into()
        } else if unbounded < bounded {
            format!(
                "with room for every word it is behind on {unbounded} sets instead of {bounded}, so words that had to \
                 leave and came back anew are a cause"
            )
        } else {
            format!(
                "with room for every word it is behind on {unbounded}, so words that had to leave are not the cause; a \
                 likely one is the beginning of the stream, where counts, noise and subsampling are far from those of the whole \
                 text, and AdaGrad's steps are the longest. *mini-batch* begins with the counts of a whole batch"
            )
        };
        text += &format!(
            "\n- With {}, *incremental* {} against *batch* ({cause}). *batch* {} against *word2vec (ours)*, which has the \
             same counts and noise and another rule for the rate.",
            called(setting),
            told(scores, setting, Method::Incremental, Method::Batch),
            told(scores, setting, Method::Batch, Method::OurWord2vec),
        );
    }
    text + "\n"
}

fn answers(scores: &Scores, frequent: &Scores, settings: &[Setting]) -> Vec<Answer> {
    let for_each = |told: &dyn Fn(Setting) -> String| {
        let parts: Vec<String> =
            settings.iter().map(|&setting| format!("With {}: {}", called(setting), told(setting))).collect();
        parts.join(". ") + "."
    };
    let batch = |setting| {
        [Method::Incremental, Method::MiniBatch, Method::MiniBatchReplay]
            .map(|method| format!("{} {}", method.name(), told(scores, setting, method, Method::Batch)))
            .join("; ")
    };
    let smaller = |setting| {
        [Method::Incremental60, Method::Incremental40]
            .map(|method| {
                format!("{} {}", method.name(), told(frequent, setting, method, Method::Incremental))
            })
            .join("; ")
    };
    let five = |setting| {
        let run = scores.methods(setting);
        let told = FIVE_PASSES.into_iter().filter(|method| run.contains(method)).map(|other| {
            format!("against {} it {}", other.name(), told(scores, setting, Method::MiniBatchReplay, other))
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() { "not run".into() } else { told.join("; ") }
    };
    vec![
        Answer {
            question: "Do incremental and mini-batch match batch within the spread over seeds?".into(),
            answer: for_each(&batch),
        },
        Answer { question: "What does lowering m cost?".into(), answer: for_each(&smaller) },
        Answer {
            question: "Where does reading once (mini-batch with replay) stand against five passes of others?"
                .into(),
            answer: for_each(&five),
        },
    ]
}

fn whole(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), |value| grouped(value.round() as u64))
}
