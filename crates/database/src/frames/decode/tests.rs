use engine::ErrorKind;
use proptest::prelude::*;

use super::{Answer, Broken, Header, Incoming};

fn frame(flags: u8, stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let [high, low] = stream.to_be_bytes();
    let mut bytes = vec![0x84, flags, high, low, opcode];
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(body);
    bytes
}

fn ints(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat()
}

/// What a connection makes of bytes that come in pieces.
fn understood(pieces: &[&[u8]], capacity: usize) -> Result<Vec<(i16, Answer)>, Broken> {
    let mut incoming = Incoming::with_capacity(capacity);
    let mut answers = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let space = incoming.space();
            let taken = space.len().min(rest.len());
            assert!(taken > 0, "there is always room for more");
            space[..taken].copy_from_slice(&rest[..taken]);
            incoming.filled(taken);
            rest = &rest[taken..];
            while let Some(answer) = incoming.next()? {
                answers.push(answer);
            }
        }
    }
    Ok(answers)
}

fn answer(flags: u8, opcode: u8, body: &[u8]) -> Answer {
    let bytes = frame(flags, 5, opcode, body);
    let answers = understood(&[&bytes], 1 << 16).unwrap();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].0, 5);
    answers[0].1
}

#[test]
fn results_by_their_kind() {
    let rows = |count| ints(&[2, 4, 3, count]);
    assert_eq!(answer(0, 0x08, &ints(&[1])), Answer::Done);
    assert_eq!(answer(0, 0x08, &rows(0)), Answer::Rows(0));
    assert_eq!(answer(0, 0x08, &rows(7)), Answer::Rows(7));
    for kind in 3..=5 {
        assert_eq!(answer(0, 0x08, &ints(&[kind])), Answer::Done);
    }
    for senseless in [ints(&[0]), ints(&[6]), Vec::new(), ints(&[2, 4, 3]), ints(&[2, 4, 3, u32::MAX])] {
        assert_eq!(answer(0, 0x08, &senseless), Answer::Senseless, "{senseless:?}");
    }
    for opcode in [0x02, 0x03, 0x06, 0x0C, 0x0E, 0x10] {
        assert_eq!(answer(0, opcode, &[]), Answer::Senseless);
    }
}

#[test]
fn rows_are_counted_behind_a_state_of_paging_and_a_description_of_columns() {
    let paging = [ints(&[2, 6, 3, 2]), vec![9, 9], ints(&[4])].concat();
    assert_eq!(answer(0, 0x08, &paging), Answer::Rows(4));
    let table = [string("k"), string("t")].concat();
    let types: [&[u8]; 6] = [
        &[0, 0x0D],
        &[0, 0x20, 0, 0x22, 0, 9],
        &[0, 0x21, 0, 0x0D, 0, 9],
        &[0, 0x31, 0, 2, 0, 0x0D, 0, 9],
        &[0, 0x30, 0, 1, b'k', 0, 1, b'u', 0, 1, 0, 1, b'f', 0, 0x0D],
        &[0, 0, 0, 3, b'o', b'.', b'T'],
    ];
    let mut global = [ints(&[2, 1, 6]), table.clone()].concat();
    let mut each = ints(&[2, 0, 6]);
    for kind in types {
        global.extend([string("c").as_slice(), kind].concat());
        each.extend([&table, string("c").as_slice(), kind].concat());
    }
    for mut body in [global, each] {
        body.extend(ints(&[3]));
        assert_eq!(answer(0, 0x08, &body), Answer::Rows(3));
        for length in 0..body.len() {
            assert_eq!(answer(0, 0x08, &body[..length]), Answer::Senseless);
        }
    }
    let deep = [ints(&[2, 1, 1]), table, string("c"), [0, 0x20].repeat(1000), ints(&[1])].concat();
    assert_eq!(answer(0, 0x08, &deep), Answer::Senseless);
}

#[test]
fn a_condition_that_was_not_met_is_no_row() {
    let columns = |first: &str, count: u32| {
        let table = [string("k"), string("t")].concat();
        let mut body = [ints(&[2, 1, count]), table, string(first), vec![0, 4]].concat();
        (1..count).for_each(|_| body.extend([string("amount"), vec![0, 9]].concat()));
        body.extend(ints(&[1]));
        body
    };
    let with = |first: &str, value: &[u8]| [columns(first, 2), ints(&[value.len() as u32]), value.to_vec()].concat();
    assert_eq!(answer(0, 0x08, &with("[applied]", &[0])), Answer::Unmet);
    assert_eq!(answer(0, 0x08, &with("[applied]", &[1])), Answer::Rows(1));
    assert_eq!(answer(0, 0x08, &with("applied", &[0])), Answer::Rows(1), "a column of the user's own");
    assert_eq!(answer(0, 0x08, &columns("[applied]", 2)), Answer::Senseless, "cut before its value");
    let none = [&columns("[applied]", 1)[..columns("[applied]", 1).len() - 4], &ints(&[0])[..]].concat();
    assert_eq!(answer(0, 0x08, &none), Answer::Rows(0));
}

#[test]
fn what_stands_before_an_answer_is_passed_over_in_its_order() {
    let trace = vec![1; 16];
    let warnings = [vec![0, 2], string("a"), string("bc")].concat();
    let payload = [vec![0, 2], string("k"), ints(&[1]), vec![7], string("n"), ints(&[u32::MAX])].concat();
    let row = ints(&[2, 4, 1, 1]);
    for (flags, before) in [
        (0x02, vec![&trace]),
        (0x08, vec![&warnings]),
        (0x04, vec![&payload]),
        (0x0A, vec![&trace, &warnings]),
        (0x0C, vec![&warnings, &payload]),
        (0x0E, vec![&trace, &warnings, &payload]),
    ] {
        let extras: Vec<u8> = before.into_iter().flatten().copied().collect();
        assert_eq!(answer(flags, 0x08, &[&extras, row.as_slice()].concat()), Answer::Rows(1));
        let busy = [extras, ints(&[0x1001]), string("busy")].concat();
        assert_eq!(answer(flags, 0x00, &busy), Answer::Failed(ErrorKind::Overloaded));
    }
}

#[test]
fn errors_by_their_code() {
    for (code, expected) in [
        (0x1000, Answer::Failed(ErrorKind::Unavailable)),
        (0x1001, Answer::Failed(ErrorKind::Overloaded)),
        (0x1100, Answer::Failed(ErrorKind::WriteTimeout)),
        (0x1200, Answer::Failed(ErrorKind::ReadTimeout)),
        (0x2200, Answer::Failed(ErrorKind::Other)),
        (0x2500, Answer::Unprepared),
    ] {
        assert_eq!(answer(0, 0x00, &[ints(&[code]), string("why")].concat()), expected);
    }
}

#[test]
fn what_cannot_be_understood_is_refused_as_soon_as_it_is_seen() {
    let good = frame(0, 1, 0x08, &ints(&[1]));
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        understood(&[&bytes], 1 << 10)
    };
    assert_eq!(with(0, 0x85), Err(Broken::Version(0x85)));
    assert_eq!(with(0, 0x04), Err(Broken::Version(0x04)), "a request is no answer");
    assert_eq!(with(1, 0x01), Err(Broken::Compressed));
    assert_eq!(with(4, 0x0A), Err(Broken::Opcode(0x0A)));
    assert_eq!(with(5, 0x7F), Err(Broken::Length(0x7F00_0004)));
    assert_eq!(understood(&[b"HTTP"], 1 << 10), Err(Broken::Version(b'H')), "less than a header");
    let longest = [[0x84, 0, 0, 1, 0x08].as_slice(), &(256u32 << 20).to_be_bytes()].concat();
    assert!(Header::parse(&longest).unwrap().is_some());
}

/// Frames of many kinds and sizes, in this order.
fn several() -> (Vec<u8>, Vec<(i16, Answer)>) {
    let row = |bytes: usize| [ints(&[2, 4, 1, 1, bytes as u32]), vec![b'x'; bytes]].concat();
    let warned = [vec![0, 1], string("slow"), ints(&[2, 4, 1, 0])].concat();
    let frames = [
        (frame(0, 0, 0x08, &ints(&[1])), Answer::Done),
        (frame(0, 300, 0x08, &row(1)), Answer::Rows(1)),
        (frame(8, 1, 0x08, &warned), Answer::Rows(0)),
        (frame(0, 2, 0x08, &row(400)), Answer::Rows(1)),
        (frame(0, -1, 0x0C, &string("UP")), Answer::Senseless),
        (frame(0, 32_767, 0x00, &ints(&[0x1200])), Answer::Failed(ErrorKind::ReadTimeout)),
        (frame(0, 3, 0x02, &[]), Answer::Senseless),
    ];
    let streams = [0, 300, 1, 2, -1, 32_767, 3];
    let answers = streams.into_iter().zip(frames.iter().map(|(_, answer)| *answer)).collect();
    (frames.iter().flat_map(|(bytes, _)| bytes.clone()).collect(), answers)
}

#[test]
fn frames_are_understood_wherever_they_are_cut() {
    let (bytes, expected) = several();
    // The smallest holds no whole frame of 400 B.
    for capacity in [64, 300, 1 << 12] {
        assert_eq!(understood(&[&bytes], capacity), Ok(expected.clone()));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(understood(&single, capacity), Ok(expected.clone()));
        for first in 0..bytes.len() {
            let (one, other) = bytes.split_at(first);
            assert_eq!(understood(&[one, other], capacity), Ok(expected.clone()), "cut at {first}");
        }
    }
}

#[test]
fn a_frame_that_does_not_fit_answers_when_its_last_byte_is_there() {
    let body = [ints(&[2, 4, 1, 1, 1000]), vec![b'x'; 1000]].concat();
    let bytes = frame(0, 9, 0x08, &body);
    let (most, last) = bytes.split_at(bytes.len() - 1);
    assert_eq!(understood(&[most], 64), Ok(Vec::new()));
    assert_eq!(understood(&[most, last], 64), Ok(vec![(9, Answer::Rows(1))]));
}

proptest! {
    #[test]
    fn any_cuts_give_the_same_answers(
        sizes in prop::collection::vec((0usize..3000, 0i16..i16::MAX), 1..20),
        pieces in prop::collection::vec(1usize..2000, 1..50),
        capacity in 64usize..2048,
    ) {
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for (size, stream) in sizes {
            let body = [ints(&[2, 4, 1, size as u32, 9]), vec![0xFF; size]].concat();
            bytes.extend(frame(0, stream, 0x08, &body));
            expected.push((stream, Answer::Rows(size as u32)));
        }
        let mut cut = Vec::new();
        let mut rest = bytes.as_slice();
        for length in pieces.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, others) = rest.split_at((*length).min(rest.len()));
            cut.push(piece);
            rest = others;
        }
        prop_assert_eq!(understood(&cut, capacity), Ok(expected));
    }

    #[test]
    fn no_bytes_at_all_do_harm(
        body in prop::collection::vec(any::<u8>(), 0..300),
        flags in 0u8..16,
        opcode in 0u8..17,
    ) {
        let bytes = frame(flags & !1, 1, opcode, &body);
        match understood(&[&bytes], 1 << 10) {
            Ok(answers) => prop_assert_eq!(answers.len(), 1),
            Err(broken) => prop_assert_eq!(broken, Broken::Opcode(opcode)),
        }
    }
}
