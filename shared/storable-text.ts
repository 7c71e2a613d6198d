/**
 * Replaces NUL and lone surrogates, which databases and strict readers of JSON refuse, by U+FFFD. `maxLength`: in UTF-16
 * units. A text that is cut may end with half of a surrogate pair.
 */
export const toStorableText = (text: string, maxLength = text.length): string =>
  text.slice(0, maxLength).replace(/\p{Surrogate}|\0/gu, '\ufffd')
