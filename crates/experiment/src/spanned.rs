//! A value of the experiment file with its place.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// A value with its place. It is read as a `T`; the schema has an `S` in its place, where a check says more of it than
/// its type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub(crate) struct Spanned<T, S = T>(toml::Spanned<T>, PhantomData<S>);

impl<T, S> Spanned<T, S> {
    pub fn new(at: Range<usize>, value: T) -> Self {
        Self(toml::Spanned::new(at, value), PhantomData)
    }

    /// Where it stands, in bytes.
    pub fn span(&self) -> Range<usize> {
        self.0.span()
    }

    /// The value, where it has a method of that name itself: to be cloned, or shown as an argument.
    pub fn get_ref(&self) -> &T {
        self.0.get_ref()
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// Where a key's value stands, if it is stated.
pub(crate) fn place<T, S>(given: &Option<Spanned<T, S>>) -> Option<Range<usize>> {
    given.as_ref().map(Spanned::span)
}

impl<T, S> Deref for Spanned<T, S> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.get_ref()
    }
}

impl<T: fmt::Display, S> fmt::Display for Spanned<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.get_ref().fmt(f)
    }
}

/// So that keys are found by their names.
impl Borrow<str> for Spanned<String> {
    fn borrow(&self) -> &str {
        self
    }
}

impl<T, S: JsonSchema> JsonSchema for Spanned<T, S> {
    fn inline_schema() -> bool {
        S::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        S::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        S::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        S::json_schema(generator)
    }
}

/// A value that is an `A`, or a table `T`, or another one of two forms.
pub(crate) type Form<A, T> = Spanned<toml::Value, Or<A, T>>;

/// For the schema: one of two forms.
#[derive(Debug, Clone)]
pub(crate) struct Or<A, B>(PhantomData<(A, B)>);

impl<A: JsonSchema, B: JsonSchema> JsonSchema for Or<A, B> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}_or_{}", A::schema_name(), B::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<A>(), generator.subschema_for::<B>()] })
    }
}
