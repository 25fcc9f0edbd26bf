DROP TABLE oauth_assertions;
