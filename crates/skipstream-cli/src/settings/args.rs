//! Flags for settings, made from the library's description of them.

use clap::builder::PossibleValuesParser;
use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use serde_json::{Map, Value};
use skipstream::Bytes;
use skipstream::{HalfLife, Setting, SettingKind, SettingValues};

/// Settings from flags; the others come from a file, from the model, or are the defaults.
#[derive(Clone, Debug, Default)]
pub struct SettingArgs {
    /// Settings of the model, and `threads`.
    pub values: SettingValues,
    /// The memory limit, which takes the place of the vocabulary size.
    pub memory: Option<Bytes>,
    /// Whether the text is sequences of items, which have other defaults.
    pub for_items: bool,
}

/// The heading of the settings in the help.
pub const MODEL: &str = "Model settings (fixed once the model exists)";

impl Args for SettingArgs {
    fn augment_args(command: Command) -> Command {
        let memory = Arg::new("memory")
            .long("memory")
            .value_name("SIZE")
            .value_parser(value_parser!(Bytes))
            .conflicts_with_all(["max_vocabulary", "table_size"])
            .help_heading(MODEL)
            .help("Memory limit; the vocabulary size follows from it, and the noise table has 10 slots per word")
            .long_help(
                "Memory limit; the vocabulary size follows from it, and the noise table has 10 slots per word\n\n\
                 2G and 2GB are 2,000,000,000 bytes, 2Gi and 2GiB are 2,147,483,648. An existing model must fit into \
                 the limit. Reading text that is not plain takes more memory: decoders of compressed files (65 MiB \
                 for xz -9) and records of jsonl, csv, tsv and parquet (at most two of 64 MiB).",
            );
        let for_what = Arg::new("for")
            .long("for")
            .value_name("WHAT")
            .value_parser(["words", "items"])
            .help_heading(MODEL)
            .help("What the text is made of; sets the defaults of other settings [default: words]")
            .long_help(format!(
                "What the text is made of; sets the defaults of other settings [default: words]\n\n`items` is for \
                 sequences of products, tracks, pages or nodes, a sequence per line. It sets {}.",
                SettingValues::for_items()
                    .given()
                    .iter()
                    .map(|(name, value)| format!("--{} {}", name.replace('_', "-"), plain(value)))
                    .collect::<Vec<_>>()
                    .join(" ")
            ));
        let (before, after) = Setting::ALL
            .split_at(Setting::ALL.iter().position(|setting| setting.name == "batch_words").unwrap_or(0));
        command.arg(for_what).args(before.iter().map(argument)).arg(memory).args(after.iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        SettingArgs::augment_args(command)
    }
}

/// A value as it is typed.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn argument(setting: &Setting) -> Arg {
    let for_strategies = match setting.strategies {
        [] | [_, _, _, _] => String::new(),
        some => {
            let names: Vec<&str> = some.iter().map(|name| name.as_str()).collect();
            format!(" ({})", names.join(", "))
        }
    };
    let help = format!("{}{for_strategies} [default: {}]", setting.help, setting.default);
    let argument = Arg::new(setting.name)
        .long(setting.name.replace('_', "-"))
        .help_heading(if setting.name == "threads" { "This run" } else { MODEL });
    let argument = match &setting.kind {
        SettingKind::Whole(_) => argument.value_name("N").value_parser(value_parser!(u64)),
        SettingKind::Age(_) => argument.value_name("AGE").value_parser(value_parser!(HalfLife)),
        SettingKind::Number(_) => {
            argument.value_name("X").value_parser(value_parser!(f64)).allow_negative_numbers(true)
        }
        SettingKind::Choice(names) => {
            argument.value_name("NAME").value_parser(PossibleValuesParser::new(names.iter()))
        }
        SettingKind::Bool => argument
            .value_name("BOOL")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(value_parser!(bool)),
        kind => unreachable!("a setting of the kind {kind:?}"),
    };
    match setting.notes {
        "" => argument.help(help),
        notes => argument.long_help(format!("{help}\n\n{notes}")).help(help),
    }
}

impl FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<SettingArgs, Error> {
        let mut values = Map::new();
        for setting in Setting::ALL {
            let value = match &setting.kind {
                SettingKind::Whole(_) => matches.get_one::<u64>(setting.name).map(|&value| value.into()),
                SettingKind::Age(_) => matches
                    .get_one::<HalfLife>(setting.name)
                    .map(|age| serde_json::to_value(age).expect("an age is a number or a text")),
                SettingKind::Number(range) => match matches.get_one::<f64>(setting.name) {
                    // JSON has no other numbers.
                    Some(value) if !value.is_finite() => {
                        return Err(Error::raw(
                            clap::error::ErrorKind::ValueValidation,
                            format!(
                                "--{} is {value}; it must be from {} to {}\n",
                                setting.name.replace('_', "-"),
                                range.start(),
                                range.end()
                            ),
                        ));
                    }
                    value => value.map(|&value| value.into()),
                },
                SettingKind::Bool => matches.get_one::<bool>(setting.name).map(|&value| value.into()),
                _ => matches.get_one::<String>(setting.name).map(|value| value.as_str().into()),
            };
            values.extend(value.map(|value| (setting.name.to_owned(), value)));
        }
        let values = serde_json::from_value(Value::Object(values))
            .map_err(|error| Error::raw(clap::error::ErrorKind::ValueValidation, format!("{error}\n")))?;
        let for_items = matches.get_one::<String>("for").is_some_and(|what| what == "items");
        Ok(SettingArgs { values, memory: matches.get_one("memory").copied(), for_items })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = SettingArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
