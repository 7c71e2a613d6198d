#!/usr/bin/env node
// npx picket …: manages a project as a file. It uses the API and Node built-ins only, so it needs no build.
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { createClient, Refusal } from './client.mjs'
import { escapeControls, formatChanges, formatSummary } from './show.mjs'
import { readSource } from './source.mjs'

const HELP = `picket manages a project as a file.

  picket export [--format yaml|json]     print the project; secrets are masked
  picket plan <file>                     show what the file would change
  picket apply <file> [--yes]            show it, ask for confirmation, and change it in one transaction

Options of plan and apply:
  --from uptime-kuma|gatus   the file is a backup of Uptime Kuma (JSON) or a configuration of Gatus (YAML)
  --prune                    delete resources that the file does not contain, in the sections that it contains
  --env                      replace \${NAME} in the file's texts with environment variables, for secrets
  <file>                     a path, or - for standard input

Environment:
  PICKET_URL        URL of the Picket server; default: http://localhost:8080
  PICKET_API_KEY    an API key of the project, svc_…; scope read for export, write for plan and apply

Exit codes: 0 success, or no changes; 1 error, or not confirmed; 2 plan found changes.`

const OPTIONS = {
  format: { type: 'string', default: 'yaml' },
  from: { type: 'string', default: 'picket' },
  prune: { type: 'boolean', default: false },
  env: { type: 'boolean', default: false },
  yes: { type: 'boolean', short: 'y', default: false },
  help: { type: 'boolean', short: 'h', default: false },
}
const OF_FILES = ['from', 'prune', 'env']
/** The options of each command. */
const COMMANDS = {
  export: { run: printExport, options: ['format'] },
  plan: { run: plan, options: OF_FILES },
  apply: { run: apply, options: [...OF_FILES, 'yes'] },
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.message.split('\n').map(escapeControls).join('\n'))
  process.exitCode = 1
}

async function main(args) {
  const { values, positionals } = parse(args)
  const [name, ...files] = positionals
  if (values.help || name === undefined) {
    console.log(HELP)
    return values.help ? 0 : 1
  }
  if (!Object.hasOwn(COMMANDS, name)) throw new Refusal(`Unknown command "${name}"; see picket --help.`)
  const { run, options } = COMMANDS[name]
  const foreign = Object.keys(OPTIONS).find(
    key => values[key] !== (OPTIONS[key].default ?? false) && !options.includes(key),
  )
  if (foreign) throw new Refusal(`picket ${name} does not accept --${foreign}; see picket --help.`)
  const wanted = name === 'export' ? 0 : 1
  if (files.length !== wanted) {
    throw new Refusal(
      wanted === 1
        ? `picket ${name} needs one file, or - for standard input.`
        : 'picket export does not accept a file.',
    )
  }
  return await run(createClient(process.env), values, files[0])
}

function parse(args) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new Refusal(`${error.message.split('. ')[0]}; see picket --help.`)
  }
}

async function printExport(client, { format }) {
  process.stdout.write(await client.exportProject(format))
  return 0
}

async function plan(client, options, path) {
  const { found } = await preview(client, options, path)
  return found.changes.length === 0 ? 0 : 2
}

async function apply(client, options, path) {
  const { source, found } = await preview(client, options, path)
  if (found.changes.length === 0) return 0
  if (!options.yes && !(await isAgreed(path))) {
    console.log('Nothing was changed.')
    return 1
  }
  const done = await client.importFile(source, { ...options, isDryRun: false })
  console.log(`Done: ${formatSummary(done, true)}`)
  return 0
}

/** Prints the changes. Warns about ${NAME} without --env, because it would be stored literally instead of a secret. */
async function preview(client, options, path) {
  const source = await readSource(path, options.env ? process.env : null)
  const found = await client.importFile(source, { ...options, isDryRun: true })
  console.log([...formatChanges(found, isColoured()), formatSummary(found)].join('\n'))
  if (!options.env && source.variables.length > 0) {
    const names = source.variables.map(name => `\${${name}}`).join(', ')
    console.error(`Warning: the file contains ${names}, which is only replaced by environment variables with --env.`)
  }
  return { source, found }
}

async function isAgreed(path) {
  if (!process.stdin.isTTY || path === '-')
    throw new Refusal('Confirmation needs a terminal; use --yes to apply without confirmation.')
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await asking.question('Apply these changes? Enter "yes" to confirm: ')
  asking.close()
  return answer.trim() === 'yes'
}

function isColoured() {
  return process.stdout.isTTY === true && !process.env.NO_COLOR
}
