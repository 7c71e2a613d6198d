/** A part of a source file that is not code. A template literal has one part before, between and after its expressions. */
type SourcePart = { kind: 'comment' | 'string' | 'template' | 'regexp' | 'jsx'; start: number; end: number }

/** What surrounds a position: braces of code, an expression in a template, a tag, or the content of an element. */
type Context = 'braces' | 'template' | 'tag' | 'content'

const SPACE = /\s+/y
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//y
const STRING = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y
/** In a tag, a backslash is a character as any other, and a string can have several lines. */
const ATTRIBUTE = /'[^']*'|"[^"]*"/y
const TEMPLATE_START = /`(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?:`|\$\{)/y
const TEMPLATE_REST = /\}(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?:`|\$\{)/y
const REGEXP = /\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
const NAME = /[\w$]+/y
const CONTENT = /[^<{]+/y
const CLOSING_TAG = /<\/[^>]*>/y
/** A tag, not the parameters of a generic arrow function. */
const OPENING_TAG = /<(?=[A-Za-z>])(?!\w+(?:,| extends ))/y
const SELF_CLOSING = /\/>/y

/** The code before a regular expression or an element: there a value begins, so that `/` and `<` are not operators. */
const VALUE_FOLLOWS = /^(|[(,=:[!&|?{};>+*%^~-]|return|typeof|case|default|await|yield|void|in|of|else|do|throw)$/

/** The comments, texts and regular expressions of a file, in order. Elements are read when `isJsx`. */
export function listParts(source: string, isJsx: boolean): SourcePart[] {
  const parts: SourcePart[] = []
  const contexts: Context[] = []
  let index = 0
  let last = ''

  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = index
    return pattern.exec(source)?.[0] ?? null
  }
  /** Goes on after `pattern`, when it matches here. `code`: what it is for the code that follows. */
  const take = (pattern: RegExp, kind: SourcePart['kind'] | null, code = last): string | null => {
    const found = match(pattern)
    if (found === null) return null
    if (kind) parts.push({ kind, start: index, end: index + found.length })
    index += found.length
    last = code
    return found
  }
  /** Whether a value, such as a template or an element, has ended. */
  const takeTemplate = (pattern: RegExp): boolean => {
    const found = take(pattern, 'template', 'value')
    if (found?.endsWith('${')) {
      contexts.push('template')
      last = ''
    }
    return found !== null
  }
  const readContent = () => {
    if (take(CONTENT, 'jsx')) return
    if (take(CLOSING_TAG, null, 'value')) contexts.pop()
    else if (take(OPENING_TAG, null)) contexts.push('tag')
    else readCharacter()
  }
  const readTag = () => {
    if (take(ATTRIBUTE, 'string') || take(COMMENT, 'comment')) return
    if (take(SELF_CLOSING, null, 'value')) contexts.pop()
    else if (source[index] === '>') {
      contexts[contexts.length - 1] = 'content'
      index++
    } else readCharacter()
  }
  const readCode = () => {
    if (take(SPACE, null) || take(COMMENT, 'comment') || take(STRING, 'string', 'value')) return
    if (takeTemplate(TEMPLATE_START)) return
    const mayBegin = VALUE_FOLLOWS.test(last)
    if (mayBegin && take(REGEXP, 'regexp', 'value')) return
    if (isJsx && mayBegin && take(OPENING_TAG, null)) return void contexts.push('tag')
    const name = match(NAME)
    if (name) take(NAME, null, name)
    else if (source[index] === '}' && contexts.at(-1) === 'template') {
      contexts.pop()
      takeTemplate(TEMPLATE_REST)
    } else readCharacter()
  }
  const readCharacter = () => {
    const character = source[index++]!
    if (character === '{') contexts.push('braces')
    else if (character === '}') contexts.pop()
    last = character
  }

  while (index < source.length) {
    const context = contexts.at(-1)
    if (context === 'content') readContent()
    else if (context === 'tag') readTag()
    else readCode()
  }
  return parts
}

/** The code of a file: all other parts are replaced by spaces, lines are kept. */
export function blankParts(source: string, isJsx: boolean): string {
  let code = ''
  let end = 0
  for (const part of listParts(source, isJsx)) {
    code += source.slice(end, part.start) + source.slice(part.start, part.end).replace(/[^\n]/g, ' ')
    end = part.end
  }
  return code + source.slice(end)
}
