/** The control characters of ASCII, 0x00-0x1f and 0x7f: a header, a command or a log line could end at one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
const ASCII_CONTROL_CHARACTER = /[\x00-\x1f\x7f]/

/** True when a text contains a control character of ASCII, such as a tab, a line break or NUL. */
export const hasControlCharacter = (text: string): boolean => ASCII_CONTROL_CHARACTER.test(text)
