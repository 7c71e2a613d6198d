#!/usr/bin/env node
// Manages a project as a file: node deploy/cli/picket.mjs. It uses the API and Node built-ins only, so it needs no build.
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { createClient, Refusal } from './client.mjs'
import { createMask, escapeControls, formatChanges, formatSummary, maskChanges } from './show.mjs'
import { readSource, replaceFile } from './source.mjs'

const HELP = `picket manages a project as a file. Run it from a checkout of Picket: node deploy/cli/picket.mjs

  picket export [--format yaml|json] [--output <file>]
                                         print the project, or write it to a file; secrets are masked
  picket plan <file>                     show what the file would change
  picket apply <file> [--yes]            show it, ask for confirmation, and change it in one transaction

Options of plan and apply:
  --from uptime-kuma|gatus   the file is a backup of Uptime Kuma (JSON) or a configuration of Gatus (YAML)
  --prune                    delete resources that the file does not contain, in the sections that it contains
  --env                      replace \${NAME} in the file's texts with environment variables, for secrets;
                             write $\${NAME} for the text \${NAME}
  --no-env                   keep \${NAME} as text
  <file>                     a path, or - for standard input

Environment:
  PICKET_URL        URL of the Picket server; default: http://localhost:8080
  PICKET_API_KEY    an API key of the project, svc_…; scope read for export, write for plan and apply

Exit codes: 0 success, or no changes; 1 error, or not confirmed; 2 plan found changes.`

const OPTIONS = {
  format: { type: 'string', default: 'yaml' },
  output: { type: 'string' },
  from: { type: 'string', default: 'picket' },
  prune: { type: 'boolean', default: false },
  env: { type: 'boolean', default: false },
  'no-env': { type: 'boolean', default: false },
  yes: { type: 'boolean', short: 'y', default: false },
  help: { type: 'boolean', short: 'h', default: false },
}
const OF_FILES = ['from', 'prune', 'env', 'no-env']
/** The options of each command. */
const COMMANDS = {
  export: { run: exportProject, options: ['format', 'output'] },
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
  const foreign = Object.keys(OPTIONS).find(key => values[key] !== OPTIONS[key].default && !options.includes(key))
  if (foreign) throw new Refusal(`picket ${name} does not accept --${foreign}; see picket --help.`)
  if (values.env && values['no-env']) throw new Refusal('--env and --no-env cannot be combined.')
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

async function exportProject(client, { format, output }) {
  const text = await client.exportProject(format)
  if (output === undefined) process.stdout.write(text)
  else replaceFile(output, text)
  return 0
}

async function plan(client, options, path) {
  return await withFile(options, path, async source => {
    const found = await preview(client, options, source)
    if (source.variables.length > 0 && !options.env && !options['no-env']) {
      console.error(`Warning: the file contains ${formatVariables(source)}, which is only replaced with --env.`)
    }
    return found.changes.length === 0 ? 0 : 2
  })
}

async function apply(client, options, path) {
  return await withFile(options, path, source => applySource(client, options, path, source))
}

async function applySource(client, options, path, source) {
  if (source.variables.length > 0 && !options.env && !options['no-env']) {
    throw new Refusal(
      `The file contains ${formatVariables(source)}. Use --env to replace it with environment variables, or --no-env to keep it as text.`,
    )
  }
  const found = await preview(client, options, source)
  if (found.changes.length === 0) return 0
  if (!options.yes) {
    if (!(await isAgreed(path))) {
      console.log('Nothing was changed.')
      return 1
    }
    const current = await client.importFile(source, { ...options, isDryRun: true })
    if (!hasSameChanges(current, found)) {
      throw new Refusal('The project has changed since the plan; run apply again. Nothing was changed.')
    }
  }
  const done = await client.importFile(source, { ...options, isDryRun: false })
  if (!hasSameChanges(done, found)) {
    console.log('The project has changed since the plan. Changes made:')
    printChanges(done, source)
  }
  console.log(`Done: ${formatSummary(done, true)}`)
  return 0
}

/** Reads the file for `run`. The values that --env inserts are not printed, in refusals neither. */
async function withFile({ env, prune, from }, path, run) {
  // with --prune, each part would delete the resources of the others; parts of another product's file lose their groups
  const canSplit = !prune && from === 'picket'
  const source = await readSource(path, env ? process.env : null, canSplit)
  const mask = createMask(source.inserted)
  try {
    return await run({ ...source, mask })
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(mask(error.message))
    throw error
  }
}

function formatVariables({ variables }) {
  return variables.map(name => `\${${name}}`).join(', ')
}

function hasSameChanges(one, other) {
  return JSON.stringify(one.changes) === JSON.stringify(other.changes)
}

/** Prints the changes that the file would make, and returns them. */
async function preview(client, options, source) {
  const found = await client.importFile(source, { ...options, isDryRun: true })
  printChanges(found, source)
  console.log(formatSummary(found))
  return found
}

function printChanges(found, { mask }) {
  const lines = formatChanges(maskChanges(found, mask), isColoured())
  if (lines.length > 0) console.log(lines.join('\n'))
}

/** False also when the input ends at the question (Ctrl-D). */
async function isAgreed(path) {
  if (!process.stdin.isTTY || path === '-')
    throw new Refusal('Confirmation needs a terminal; use --yes to apply without confirmation.')
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  const ended = new Promise(resolve => {
    asking.once('close', () => resolve(null))
  })
  const answer = await Promise.race([asking.question('Apply these changes? Enter "yes" to confirm: '), ended])
  if (answer === null) console.log()
  asking.close()
  return answer?.trim() === 'yes'
}

function isColoured() {
  return process.stdout.isTTY === true && !process.env.NO_COLOR
}
