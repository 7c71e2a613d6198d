import type { Queries } from '../screen.ts'

const SHORT_LINE = 80

/** A program that makes the calls with the typed client (deploy/client). An answer is a variable with the name of its call. */
export function toTypeScript(calls: Queries): string {
  const lines = Object.entries(calls).map(([variable, { name, arguments: args }]) => {
    const given = Object.keys(args as object).length === 0 ? '' : toLiteral(args)
    return `const ${variable} = await picket.${name}(${given})`
  })
  return [
    ...(lines.some(line => line.includes('await readFile(')) ? ["import { readFile } from 'node:fs/promises'"] : []),
    "import { env } from 'node:process'",
    "import { createPicket } from 'picket-client'",
    '',
    "const picket = createPicket({ origin: env.PICKET_URL ?? '', apiKey: env.PICKET_API_KEY })",
    ...lines,
  ].join('\n')
}

/** A value of JSON as an expression. Short lists and objects are on one line. */
function toLiteral(value: unknown, indent = ''): string {
  if (value instanceof Blob)
    return `new Blob([await readFile(${JSON.stringify(value instanceof File ? value.name : 'FILE')})])`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'undefined'
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map(item => toLiteral(item, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${/^[a-z_]\w*$/i.test(key) ? key : JSON.stringify(key)}: ${toLiteral(item, inner)}`)
  if (parts.length === 0) return isList ? '[]' : '{}'
  const line = parts.join(', ')
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  const space = isList ? '' : ' '
  if (line.length + indent.length <= SHORT_LINE && !line.includes('\n')) return `${open}${space}${line}${space}${close}`
  return `${open}\n${parts.map(part => `${inner}${part},\n`).join('')}${indent}${close}`
}
