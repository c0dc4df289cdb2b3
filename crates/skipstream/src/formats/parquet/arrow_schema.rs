//! The schema of the columns as Arrow has it, for the metadata of a Parquet file.
//!
//! It is the base64 of a message in Arrow's format of streams: a marker, the length, and a FlatBuffers table `Message`.
//! Arrow's `format/Message.fbs` and `format/Schema.fbs` number the fields of the tables.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, TableFinishedWIPOffset, VOffsetT, WIPOffset};

/// Begins a message.
const CONTINUATION: u32 = 0xffff_ffff;

/// Version 5 of the metadata.
const V5: i16 = 4;

/// The header of a message that is a schema.
const SCHEMA: u8 = 1;

/// Types of columns, as the union `Type` numbers them.
const INT: u8 = 2;
const FLOATING_POINT: u8 = 3;
const UTF8: u8 = 5;
const FIXED_SIZE_LIST: u8 = 16;

/// Single precision.
const SINGLE: i16 = 1;

type Table = WIPOffset<TableFinishedWIPOffset>;

/// The message for vectors of this length.
pub(super) fn encoded(dimensions: usize) -> String {
    let mut builder = FlatBufferBuilder::new();
    let text = table(&mut builder, |_| ());
    let word = field(&mut builder, "word", (UTF8, text), false, &[]);
    // The width, and no sign, which is the default.
    let number = table(&mut builder, |builder| builder.push_slot::<i32>(slot(0), 64, 0));
    let count = field(&mut builder, "count", (INT, number), true, &[]);
    let single = table(&mut builder, |builder| builder.push_slot(slot(0), SINGLE, 0));
    let element = field(&mut builder, "element", (FLOATING_POINT, single), false, &[]);
    let list = table(&mut builder, |builder| builder.push_slot(slot(0), dimensions as i32, 0));
    let vector = field(&mut builder, "vector", (FIXED_SIZE_LIST, list), false, &[element]);
    let fields = vector_of(&mut builder, &[word, count, vector]);
    let schema = table(&mut builder, |builder| builder.push_slot_always(slot(1), fields));
    let message = table(&mut builder, |builder| {
        builder.push_slot(slot(0), V5, 0);
        builder.push_slot(slot(1), SCHEMA, 0);
        builder.push_slot_always(slot(2), schema);
    });
    builder.finish_minimal(message);
    let mut message = builder.finished_data().to_vec();
    message.resize(message.len().next_multiple_of(8), 0);
    let mut bytes = CONTINUATION.to_le_bytes().to_vec();
    bytes.extend((message.len() as u32).to_le_bytes());
    bytes.extend(message);
    BASE64_STANDARD.encode(bytes)
}

/// A column, or the values of one.
fn field(
    builder: &mut FlatBufferBuilder<'_>,
    name: &str,
    (kind, parameters): (u8, Table),
    is_nullable: bool,
    children: &[Table],
) -> Table {
    let name = builder.create_string(name);
    let children = vector_of(builder, children);
    table(builder, |builder| {
        builder.push_slot_always(slot(0), name);
        builder.push_slot(slot(1), is_nullable, false);
        builder.push_slot(slot(2), kind, 0);
        builder.push_slot_always(slot(3), parameters);
        builder.push_slot_always(slot(5), children);
    })
}

fn table<'a>(builder: &mut FlatBufferBuilder<'a>, push: impl FnOnce(&mut FlatBufferBuilder<'a>)) -> Table {
    let start = builder.start_table();
    push(builder);
    builder.end_table(start)
}

fn vector_of<'a>(
    builder: &mut FlatBufferBuilder<'a>,
    tables: &[Table],
) -> WIPOffset<flatbuffers::Vector<'a, ForwardsUOffset<TableFinishedWIPOffset>>> {
    builder.create_vector(tables)
}

/// The place of a field in the table of fields.
fn slot(number: VOffsetT) -> VOffsetT {
    4 + 2 * number
}
