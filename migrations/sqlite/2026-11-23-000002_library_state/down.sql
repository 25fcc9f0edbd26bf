DROP TABLE library_state;
