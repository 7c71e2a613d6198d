/** Restricts the embedded ClickHouse to the statements that Picket sends, without access to files or the network. */

/** The first words of allowed statements. The access rights in rights.ts restrict them further. */
const STATEMENTS =
  /^(SELECT|WITH|INSERT INTO|CREATE (DATABASE|TABLE)|DROP (DATABASE|TABLE)|(ALTER|RENAME|TRUNCATE|OPTIMIZE) TABLE)\b/

/**
 * Keywords that access a file, another setting, another statement, or a name from a parameter.
 */
const FORBIDDEN_WORDS = new Set(['OUTFILE', 'INFILE', 'SETTING', 'PARALLEL', 'IDENTIFIER'])

/** Allowed table engines. Others access files or servers, and the access rights do not cover all of them. */
const TABLE_ENGINES = new Set(['MergeTree', 'ReplacingMergeTree'])

/** Allowed settings of a request or a statement. Others can contain files and addresses. */
const SETTINGS = new Set([
  'do_not_merge_across_partitions_select_final',
  'insert_deduplication_token',
  'max_block_size',
  'max_execution_time',
  'max_partitions_per_insert_block',
  'max_threads',
  'non_replicated_deduplication_window',
  'ttl_only_drop_parts',
])

/** Allowed table functions, which only read what is in the statement. */
const HARMLESS_TABLE_FUNCTIONS = new Set(['format', 'numbers', 'numbers_mt', 'values', 'zeros', 'zeros_mt'])

/** Allowed row formats. Each line is one row, so that rows cannot end in another statement. */
const ROW_STARTS: Record<string, number> = { JSONEACHROW: 0x7b, JSONCOMPACTEACHROW: 0x5b }

export const isAllowedSetting = (name: string) => name.startsWith('param_') || SETTINGS.has(name)

/** In lower case. `names`: functions that can also be passed by name (`arrayMap(file, …)`, `APPLY(file)`). */
export type ForbiddenIdentifiers = { calls: Set<string>; names: Set<string> }

/** The identifiers that no statement may use. `tableFunctions` and `functions`: those of the engine. */
export function listForbiddenIdentifiers(tableFunctions: string[], functions: string[]): ForbiddenIdentifiers {
  const harmful = tableFunctions.filter(name => !HARMLESS_TABLE_FUNCTIONS.has(name))
  const inLowerCase = (names: string[]) => new Set(names.map(name => name.toLowerCase()))
  return { calls: inLowerCase([...harmful, 'disk']), names: inLowerCase(functions) }
}

/** Throws when `sql` is not allowed. For an insert, `sql` is the part before the rows. */
export function assertStatement(sql: string, forbidden: ForbiddenIdentifiers): void {
  const tokens = tokenize(sql)
  const words = tokens.map(token => (token.isQuoted ? '' : token.text.toUpperCase()))
  if (!STATEMENTS.test(words.slice(0, 2).join(' '))) throw refusal('it is not a kind of statement that Picket sends')
  let isInSettings = false
  tokens.forEach(({ text, isQuoted }, i) => {
    const next = tokens[i + 1]?.text
    if (!isQuoted && FORBIDDEN_WORDS.has(words[i]!)) throw refusal(`${words[i]} is not allowed`)
    const name = text.toLowerCase()
    if (forbidden.names.has(name) || (next === '(' && forbidden.calls.has(name)))
      throw refusal(`the function ${text} is not allowed`)
    const isSetting = isInSettings && (next === '=' || /^(SETTINGS|,)$/.test(words[i - 1]!))
    if (isSetting && !SETTINGS.has(text)) throw refusal(`the setting ${text} is not allowed`)
    if (words[i] === 'SETTINGS') isInSettings = true
  })
  if (words[0] === 'CREATE') assertEngines(tokens, words)
  const format = words.indexOf('FORMAT')
  if (words[0] === 'INSERT' && format !== -1 && format !== words.length - 2) throw refusal('it contains its rows')
}

/** Checks table engines. The `=` after ENGINE is optional. */
function assertEngines(tokens: Token[], words: string[]): void {
  words.forEach((word, i) => {
    if (word !== 'ENGINE') return
    const name = tokens[words[i + 1] === '=' ? i + 2 : i + 1]?.text ?? ''
    if (!TABLE_ENGINES.has(name)) throw refusal(`the engine ${name} is not allowed`)
  })
}

/**
 * Counts the rows of an insert. Throws when a line is not a row, because the engine parses text after an empty line as
 * another statement.
 */
export function countRows(insert: string, rows: string): number {
  if (rows === '') return 0
  const format = /\bFORMAT\s+([A-Za-z]+)\s*$/i.exec(insert)?.[1]?.toUpperCase() ?? ''
  const start = ROW_STARTS[format]
  if (start === undefined) throw refusal('rows must be JSONEachRow or JSONCompactEachRow')
  let count = 0
  let at = 0
  while (at < rows.length) {
    if (rows.charCodeAt(at) !== start) throw refusal('a line of its rows is not a row')
    count++
    const end = rows.indexOf('\n', at)
    at = end === -1 ? rows.length : end + 1
  }
  return count
}

type Token = { text: string; isQuoted: boolean }

/**
 * A string, a quoted name, a number, a word, or an operator. Quoted names with escapes are refused, because they could hide a
 * forbidden name.
 */
const TOKEN =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"([^"\\]*)"|`([^`\\]*)`|([A-Za-z0-9_]+)|([-+*/%=<>!(),.?:[\]{}|@^~&])|[ \t\r\n]+/y
const COMMENT = /^(--|\/\*)/

function tokenize(sql: string): Token[] {
  if (sql.includes('\0')) throw refusal('it contains a zero byte')
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < sql.length) {
    const at = TOKEN.lastIndex
    if (COMMENT.test(sql.slice(at, at + 2))) throw refusal('it contains a comment')
    const found = TOKEN.exec(sql)
    if (!found) throw refusal(`it contains ${JSON.stringify(sql[at])} outside of strings`)
    const [, doubled, backquoted, word, sign] = found
    const name = doubled ?? backquoted
    if (name !== undefined) tokens.push({ text: name, isQuoted: true })
    else if (word !== undefined || sign !== undefined) tokens.push({ text: (word ?? sign)!, isQuoted: false })
    else if (found[0].startsWith("'")) tokens.push({ text: "''", isQuoted: true })
  }
  return tokens
}

const refusal = (why: string) =>
  new Error(`Code: 497. DB::Exception: the embedded ClickHouse does not execute this: ${why}. (ACCESS_DENIED)`)
