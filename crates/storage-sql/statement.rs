use std::marker::PhantomData;

use diesel::{
    QueryResult, RunQueryDsl,
    backend::Backend,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    serialize::ToSql,
    sql_types::{HasSqlType, Untyped},
};

/// A statement that, unlike diesel's `sql_query`, stays prepared on its connection. It is found by its text, which has few
/// variants.
///
/// Placeholders are `$1`, `$2` and so on. SQLite numbers them in the order in which they first appear, so that must be
/// their order.
pub(crate) const fn statement(sql: &'static str) -> Statement<Sql> {
    Statement(Sql(sql))
}

/// A statement whose text rarely repeats, so it does not stay prepared.
pub(crate) const fn unprepared(sql: String) -> Statement<UnpreparedSql> {
    Statement(UnpreparedSql(sql))
}

/// See [`statement`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement<P>(P);

impl<P> Statement<P> {
    /// Binds the value of the next placeholder.
    pub(crate) fn bind<T, V>(self, value: V) -> Statement<Bind<P, T, V>> {
        Statement(Bind { before: self.0, value, sql_type: PhantomData })
    }

    /// Appends a part that has its own placeholders. All earlier placeholders must already have values.
    pub(crate) fn then<F>(self, part: F) -> Statement<Then<P, F>> {
        Statement(Then(self.0, part))
    }

    pub(crate) fn then_sql(self, sql: &'static str) -> Statement<Then<P, Sql>> {
        self.then(Sql(sql))
    }

    /// Appends a placeholder with its value.
    pub(crate) fn then_value<T, V>(self, value: V) -> Statement<Then<P, BoundValue<T, V>>> {
        self.then(BoundValue { value, sql_type: PhantomData })
    }
}

/// Text that never changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sql(&'static str);

impl<D: Backend> QueryFragment<D> for Sql {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, D>) -> QueryResult<()> {
        pass.push_sql(self.0);
        Ok(())
    }
}

/// See [`unprepared`].
#[derive(Debug, Clone)]
pub(crate) struct UnpreparedSql(String);

impl<D: Backend> QueryFragment<D> for UnpreparedSql {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, D>) -> QueryResult<()> {
        pass.unsafe_to_cache_prepared();
        pass.push_sql(&self.0);
        Ok(())
    }
}

/// One part after another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Then<A, B>(A, B);

impl<D: Backend, A: QueryFragment<D>, B: QueryFragment<D>> QueryFragment<D> for Then<A, B> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, D>) -> QueryResult<()> {
        self.0.walk_ast(pass.reborrow())?;
        self.1.walk_ast(pass)
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

/// A placeholder with its value of type `T`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundValue<T, V> {
    value: V,
    sql_type: PhantomData<T>,
}

impl<D, T, V> QueryFragment<D> for BoundValue<T, V>
where
    D: Backend + HasSqlType<T>,
    V: ToSql<T, D>,
{
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, D>) -> QueryResult<()> {
        pass.push_bind_param(&self.value)
    }
}

impl<D: Backend, P: QueryFragment<D>> QueryFragment<D> for Statement<P> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, D>) -> QueryResult<()> {
        self.0.walk_ast(pass)
    }
}

/// Prepared statements are found by their text.
impl<P> QueryId for Statement<P> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<P> Query for Statement<P> {
    type SqlType = Untyped;
}

impl<P, C> RunQueryDsl<C> for Statement<P> {}
