DROP TABLE grant_edits;
