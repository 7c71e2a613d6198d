// Reads the file of plan and apply, and writes that of export.
import { lstatSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { Refusal } from './client.mjs'

/** The maximum size that POST /import accepts. */
const MAX_BYTES = 1024 * 1024
const VARIABLE = /\$\{([A-Za-z_]\w*)\}/g
/** `$${NAME}` is the text `${NAME}`. */
const VARIABLE_OR_ESCAPE = /(\$?)\$\{([A-Za-z_]\w*)\}/g

/**
 * `path`: `-` is standard input; `env`: the variables that replace `${NAME}`, or null; `canSplit`: the file may be sent in
 * parts. Returns the text to send, the names of
 * the variables in it, and the values that were inserted by name. Throws a Refusal.
 */
export async function readSource(path, env, canSplit) {
  const written = readText(path)
  const inserted = new Map()
  const replace = (_, value) => replaceVariables(value, env, inserted)
  const text = env === null ? written : JSON.stringify(await readYaml(path, written), replace)
  if (Buffer.byteLength(text) > MAX_BYTES) {
    const advice = canSplit ? 'Split it and apply the parts without --prune, or upload' : 'Upload'
    throw new Refusal(`${path} is larger than 1 MiB. ${advice} it on /settings/import.`)
  }
  const isJson = env !== null || path.endsWith('.json')
  return { text, type: isJson ? 'application/json' : 'application/yaml', variables: listVariables(text), inserted }
}

/** Names of variables that are still in the text. */
const listVariables = text => [...new Set([...text.matchAll(VARIABLE)].map(([, name]) => name))]

function readText(path) {
  const bytes = readBytes(path)
  // PowerShell's `>` writes it
  if (/^(fffe|feff)/.test(bytes.toString('hex', 0, 2))) {
    throw new Refusal(`${path} is encoded in UTF-16; save it as UTF-8.`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refusal(`${path} is not valid UTF-8; save it as UTF-8.`)
  }
}

function readBytes(path) {
  try {
    return readFileSync(path === '-' ? 0 : path)
  } catch (error) {
    throw new Refusal(`${path} cannot be read: ${error.code === 'ENOENT' ? 'the file does not exist' : error.message}.`)
  }
}

/** Parses the file before variables are replaced, so that their values are not parsed as YAML. Needs `npm install`. */
async function readYaml(path, text) {
  const { load } = await import('js-yaml').catch(() => {
    throw new Refusal('--env requires installed packages; run npm install.')
  })
  try {
    const value = load(text)
    JSON.stringify(value)
    return value
  } catch (error) {
    const line = error.mark === undefined ? '' : ` in line ${error.mark.line + 1}`
    throw new Refusal(`${path} is not valid YAML${line}: ${error.reason ?? error.message}.`)
  }
}

function replaceVariables(value, env, inserted) {
  if (typeof value !== 'string') return value
  return value.replace(VARIABLE_OR_ESCAPE, (match, extra, name) => {
    if (extra) return match.slice(1)
    if (env[name] === undefined) {
      throw new Refusal(`The file uses the environment variable ${name}, which is not set.`)
    }
    inserted.set(name, env[name])
    return env[name]
  })
}

/** Writes the text as UTF-8 to a new file and renames it, so that a failure keeps the old file. Throws a Refusal. */
export function replaceFile(path, text) {
  const target = resolveLink(path)
  const temporary = `${target}.${process.pid}.tmp`
  try {
    const stats = lstatSync(target, { throwIfNoEntry: false })
    if (stats && !stats.isFile()) throw new Error('it is not a regular file')
    writeFileSync(temporary, text, { mode: stats ? stats.mode & 0o777 : 0o666, flag: 'wx' })
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new Refusal(`${path} cannot be written: ${error.message}.`)
  }
}

/** The file that a symbolic link names. */
function resolveLink(path) {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
