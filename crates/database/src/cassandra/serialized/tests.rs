use super::*;

/// A description of a class: name, how it writes, fields (type code, name, name of the class), and its parent.
fn class(name: &str, how: u8, fields: &[(u8, &str, &str)], parent: &[u8]) -> Vec<u8> {
    let short = |text: &str| [&u16::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat();
    let mut bytes = vec![CLASS];
    bytes.extend(short(name));
    bytes.extend([7; 8]);
    bytes.push(how);
    bytes.extend(u16::try_from(fields.len()).unwrap().to_be_bytes());
    for (of, field, of_class) in fields {
        bytes.push(*of);
        bytes.extend(short(field));
        if !of_class.is_empty() {
            bytes.push(TEXT);
            bytes.extend(short(of_class));
        }
    }
    bytes.push(END);
    bytes.extend(parent);
    bytes
}

fn read(parts: &[&[u8]]) -> Result<Value, StreamError> {
    let bytes = [&HEADER[..], &parts.concat()].concat();
    Stream::open(bytes.as_slice())?.value()
}

/// Each of these took the stack or all memory.
#[test]
fn what_a_stream_announces_is_bounded_before_it_is_believed() {
    let objects = class("[Ljava.lang.Object;", SERIALIZABLE, &[], &[NULL]);
    let refused = |parts: &[&[u8]]| read(parts).unwrap_err().to_string();
    // Lists inside of lists, each the only element of the one before.
    let mut nested = [&[ARRAY], objects.as_slice(), &1_u32.to_be_bytes()].concat();
    for _ in 0..10_000 {
        nested.extend([ARRAY, REFERENCE]);
        nested.extend(FIRST.to_be_bytes());
        nested.extend(1_u32.to_be_bytes());
    }
    assert!(refused(&[&nested]).contains("inside of each other"));
    assert!(refused(&[&[RESET; 100_000]]).contains("inside of each other"));
    // Each list is twice the one before.
    let mut doubled = [&[ARRAY], objects.as_slice(), &40_u32.to_be_bytes()].concat();
    for number in 0..40_u32 {
        doubled.extend([ARRAY, REFERENCE]);
        doubled.extend(FIRST.to_be_bytes());
        doubled.extend(2_u32.to_be_bytes());
        for _ in 0..2 {
            match number {
                0 => doubled.push(NULL),
                _ => doubled.extend([&[REFERENCE], &(FIRST + 1 + number).to_be_bytes()[..]].concat()),
            }
        }
    }
    assert!(refused(&[&doubled]).contains("values"), "{}", refused(&[&doubled]));
    assert!(refused(&[&[LONG_TEXT], &u64::MAX.to_be_bytes()]).contains("announced"));
    let endless = class("[J", SERIALIZABLE, &[], &[NULL]);
    let bytes = [&HEADER[..], &[ARRAY], &endless, &u32::MAX.to_be_bytes()].concat();
    let zeros = std::io::repeat(0);
    let from = std::io::Read::chain(bytes.as_slice(), zeros);
    let words = Stream::open(from).and_then(|mut stream| stream.value()).unwrap_err().to_string();
    assert!(words.contains("more than"), "{words}");
}

/// As deep as the bound is read, one level more is refused: of values, of descriptions of classes in each other, and of
/// classes that refer to their parents.
#[test]
fn a_stream_is_read_down_to_a_depth_and_not_beyond_it() {
    let refer = |number: u32| [&[REFERENCE], &(FIRST + number).to_be_bytes()[..]].concat();
    let objects = class("[Ljava.lang.Object;", SERIALIZABLE, &[], &[NULL]);
    let lists = |levels: u32| {
        let mut bytes = [&[ARRAY], objects.as_slice(), &1_u32.to_be_bytes()].concat();
        for _ in 1..levels {
            bytes.extend([&[ARRAY], refer(0).as_slice(), &1_u32.to_be_bytes()].concat());
        }
        bytes.push(NULL);
        read(&[&bytes]).map(drop).map_err(|error| error.to_string())
    };
    let described = |levels: u32| {
        let own = (0..levels).fold(vec![NULL], |parent, _| class("x.Y", SERIALIZABLE, &[], &parent));
        read(&[&[OBJECT], &own]).map(drop).map_err(|error| error.to_string())
    };
    // An array of classes, and an object of the last one. Numbers: the array's class 0, itself 1, then two for each.
    let referred = |levels: u32| {
        let mut bytes = [&[ARRAY], objects.as_slice(), &(levels + 1).to_be_bytes()].concat();
        let mut parent = vec![NULL];
        for number in 0..levels {
            bytes.push(CLASS_ITSELF);
            bytes.extend(class("x.Y", SERIALIZABLE, &[], &parent));
            parent = refer(2 + 2 * number);
        }
        bytes.push(OBJECT);
        bytes.extend(&parent);
        read(&[&bytes]).map(drop).map_err(|error| error.to_string())
    };
    let inside = Err(format!("unexpected bytes from the JVM: more than {DEEPEST} values inside of each other"));
    assert_eq!((lists(DEEPEST - 1), lists(DEEPEST)), (Ok(()), inside.clone()));
    // The object is a level, and so is the end of the chain.
    assert_eq!((described(DEEPEST - 2), described(DEEPEST - 1)), (Ok(()), inside));
    let parents = Err(format!("unexpected bytes from the JVM: a class with more than {DEEPEST} parents"));
    assert_eq!((referred(DEEPEST), referred(DEEPEST + 1)), (Ok(()), parents));
}

#[test]
fn a_boxed_number_is_a_number_and_an_array_has_its_elements() {
    let number = class("java.lang.Number", SERIALIZABLE, &[], &[NULL]);
    let long = class("java.lang.Long", SERIALIZABLE, &[(b'J', "value", "")], &number);
    let read_long = read(&[&[OBJECT], &long, &(-5_i64).to_be_bytes()]).unwrap();
    assert_eq!(read_long.number(), Some(-5.0));

    let longs = class("[J", SERIALIZABLE, &[], &[NULL]);
    let two = read(&[&[ARRAY], &longs, &2_u32.to_be_bytes(), &3_i64.to_be_bytes(), &4_i64.to_be_bytes()]);
    assert_eq!(two.unwrap(), Value::List(vec![Value::Whole(3), Value::Whole(4)]));
}

/// An exception is its own cause until it is given another one.
#[test]
fn an_object_may_refer_to_itself_and_to_what_was_said_before() {
    let fields = [(b'L', "cause", "Ljava/lang/Throwable;"), (b'L', "detailMessage", "Ljava/lang/String;")];
    let class = class("java.lang.Exception", SERIALIZABLE | WRITES_ITSELF, &fields, &[NULL]);
    // Numbers: the class 0, the names of the fields' classes 1 and 2, the object 3, its message 4.
    let refer = |number: u32| [&[REFERENCE], &(FIRST + number).to_be_bytes()[..]].concat();
    let own = [BLOCK, 2, 0xaa, 0xbb];
    let message = [&[TEXT, 0, 3], b"why".as_slice()].concat();
    let read = read(&[&[OBJECT], &class, &refer(3), &message, &own, &refer(4), &[END]]).unwrap();
    let Value::Object(object) = read else { panic!("{read:?}") };
    assert_eq!(object.class, "java.lang.Exception");
    assert_eq!(object.fields["cause"], Value::Null);
    assert_eq!(object.fields["detailMessage"].text(), Some("why"));
    assert_eq!(object.written, [Value::Bytes(vec![0xaa, 0xbb]), Value::Text("why".to_owned())]);
}

#[test]
fn what_is_no_stream_is_refused_in_words_and_never_read_past_its_end() {
    let error = |bytes: &[u8]| Stream::open(bytes).and_then(|mut s| s.value()).unwrap_err().to_string();
    assert!(error(b"HTTP/1.1").contains("where a stream begins"));
    assert!(error(&[&HEADER[..], &[0x20]].concat()).contains("0x20 where a value begins"));
    assert!(error(&[&HEADER[..], &[REFERENCE, 0, 0x7e, 0, 9]].concat()).contains("which was not said"));
    // Announces four gigabytes, or a megabyte, and sends two bytes.
    let cut = |length: u32| error(&[&HEADER[..], &[LONG_BLOCK], &length.to_be_bytes(), &[1, 2]].concat());
    assert!(cut(u32::MAX).contains("at most"), "{}", cut(u32::MAX));
    assert!(cut(1 << 20).contains("2 sent"), "{}", cut(1 << 20));
}
