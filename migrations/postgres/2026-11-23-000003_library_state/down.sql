DROP FUNCTION require_open_library();
DROP TABLE library_state;
