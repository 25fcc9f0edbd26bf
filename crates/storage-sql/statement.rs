use std::marker::PhantomData;

use diesel::{
    QueryResult, RunQueryDsl,
    backend::Backend,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    serialize::ToSql,
    sql_types::{HasSqlType, Untyped},
};

/// A statement whose text never changes. Unlike diesel's `sql_query` it stays prepared on its connection.
///
/// Placeholders are `$1`, `$2` and so on. SQLite numbers them in the order in which they first appear, so that must be
/// their order.
pub(crate) const fn statement(sql: &'static str) -> Statement<()> {
    Statement { sql, binds: () }
}

/// See [`statement`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement<B> {
    sql: &'static str,
    binds: B,
}

impl<B> Statement<B> {
    /// Binds the value of the next placeholder.
    pub(crate) fn bind<T, V>(self, value: V) -> Statement<Bind<B, T, V>> {
        Statement { sql: self.sql, binds: Bind { before: self.binds, value, sql_type: PhantomData } }
    }
}

/// A value of type `T` after other values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bind<B, T, V> {
    before: B,
    value: V,
    sql_type: PhantomData<T>,
}

impl<D, B, T, V> QueryFragment<D> for Bind<B, T, V>
where
    D: Backend + HasSqlType<T>,
    B: QueryFragment<D>,
    V: ToSql<T, D>,
{
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, D>) -> QueryResult<()> {
        self.before.walk_ast(pass.reborrow())?;
        pass.push_bind_param_value_only(&self.value)
    }
}

impl<D: Backend, B: QueryFragment<D>> QueryFragment<D> for Statement<B> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, D>) -> QueryResult<()> {
        pass.push_sql(self.sql);
        self.binds.walk_ast(pass)
    }
}

/// Prepared statements are found by their text.
impl<B> QueryId for Statement<B> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<B> Query for Statement<B> {
    type SqlType = Untyped;
}

impl<B, C> RunQueryDsl<C> for Statement<B> {}
