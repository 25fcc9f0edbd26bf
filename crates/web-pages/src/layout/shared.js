// What the other modules of a page import.

export { NO_ANSWER, Range, announce, areLettersOn, dateText, dayText, dialogForm, hasModifier, isPlainClick, isTyping, make, makeButton, makeClose, monthText, numberFormat, openDialog, pageKeys, photosText, requestJson, showMessage };
