// The file that plan and apply take, as it is sent.
import { readFileSync } from 'node:fs'
import { Refusal } from './client.mjs'

/** What POST /import takes. */
const MOST_BYTES = 1024 * 1024
const VARIABLE = /\$\{([A-Za-z_]\w*)\}/g

/** `path`: `-` is standard input; `env`: the variables to put in place of `${NAME}`, null for none. Throws a Refusal. */
export async function readSource(path, env) {
  const written = readText(path)
  const text = env === null ? written : JSON.stringify(await readYaml(path, written), (_, value) => filled(value, env))
  if (Buffer.byteLength(text) > MOST_BYTES) {
    throw new Refusal(`${path} is larger than 1 MiB. Send it in parts; a part may refer to what is there already.`)
  }
  const isJson = env !== null || path.endsWith('.json')
  return { text, type: isJson ? 'application/json' : 'application/yaml', variables: variablesIn(text) }
}

/** Names that still stand in the file. */
const variablesIn = text => [...new Set([...text.matchAll(VARIABLE)].map(([, name]) => name))]

function readText(path) {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    throw new Refusal(`${path} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}.`)
  }
}

/** Read first and filled then, so that no sign of a value means something to YAML; so this asks for `npm install`. */
async function readYaml(path, text) {
  const { load } = await import('js-yaml').catch(() => {
    throw new Refusal('--env needs the packages of this checkout: run npm install.')
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

function filled(value, env) {
  if (typeof value !== 'string') return value
  return value.replace(VARIABLE, (_, name) => {
    if (env[name] === undefined) {
      throw new Refusal(`The file asks for the environment variable ${name}, which is not set.`)
    }
    return env[name]
  })
}
