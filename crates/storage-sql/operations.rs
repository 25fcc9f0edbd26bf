/// Implements a port: each line is an operation, and becomes a method that runs a function on a connection. See the
/// [module](crate::sql) for an example.
macro_rules! operations {
    (
        impl $port:path {
            $(
                $run:ident $(($lock:expr))? $name:ident(
                    $($argument:ident: $(&$borrowed:tt)? $($value:path)? $(as $form:tt)?),* $(,)?
                ) -> $result:ty $(= $function:path;)? $({ |$c:ident| $body:expr })?
            )*
        }
        $(by hand { $($by_hand:tt)* })?
    ) => {
        #[async_trait::async_trait]
        impl $port for crate::SqlStore {
            $(
                async fn $name(
                    &self,
                    $($argument: $(&$borrowed)? $($value)?),*
                ) -> Result<$result, storage::StorageError> {
                    $($(let $argument = <$borrowed as ToOwned>::to_owned($argument);)?)*
                    self.$run(
                        $($lock,)?
                        operation!(
                            $($function)? $(|$c| $body)?;
                            $(($argument $(&$borrowed)? $(as $form)?))*
                        ),
                    )
                    .await
                }
            )*
            $($($by_hand)*)?
        }
    };
}

/// The closure of an operation: a function that gets the connection and the arguments, or the body as it is written.
macro_rules! operation {
    (|$c:ident| $body:expr; $($arguments:tt)*) => {
        move |$c: &mut crate::SqlConnection| $body
    };
    ($function:path; $($argument:tt)*) => {
        move |c: &mut crate::SqlConnection| $function(c, $(argument! $argument),*)
    };
}

/// An argument as the function takes it.
macro_rules! argument {
    ($name:ident & $type:tt) => {
        std::borrow::Borrow::<$type>::borrow(&$name)
    };
    ($name:ident as ref) => {
        &$name
    };
    ($name:ident) => {
        $name
    };
}
