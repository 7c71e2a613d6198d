import type { ApiServer } from './api-server.ts'

/** Operations with another method than GET that change nothing. A key with scope read may call them. */
export const POSTED_READS: readonly string[] = ['POST /status-pages/{id}/preview']

// biome-ignore lint/suspicious/noExplicitAny: JSON Schemas of any shape
export type Schema = any

/** One operation of the OpenAPI document; `path` as in the document, without the prefix. */
export type Operation = {
  name: string
  operationId: string
  method: string
  path: string
  isOpen: boolean
  body: Schema | null
  /** the content type that it accepts instead of JSON */
  upload: string | null
  query: { name: string; required: boolean; schema: Schema }[]
  /** by status */
  answers: Record<string, Schema>
}

const PREFIX = '/api/v1'

/** Reads the operations of the running API, so that tests include every route. */
export async function readOperations(api: ApiServer): Promise<{ operations: Operation[]; document: Schema }> {
  return listOperations((await api.call('GET', `${api.origin}/openapi.json`, { key: null })).body)
}

/** The operations of a document, and the document with its references resolved. */
export function listOperations(text: Schema): { operations: Operation[]; document: Schema } {
  const document = resolved(text, text.components.schemas)
  const operations = Object.entries<Schema>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Schema>(methods).map(([method, operation]) => toOperation(method, path, operation)),
  )
  return { operations, document }
}

/** Replaces each reference to a named schema by the schema. */
function resolved(node: Schema, schemas: Record<string, Schema>): Schema {
  if (Array.isArray(node)) return node.map(one => resolved(one, schemas))
  if (typeof node !== 'object' || node === null) return node
  const name = typeof node.$ref === 'string' ? node.$ref.split('/').at(-1) : undefined
  if (name) return resolved(schemas[name], schemas)
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value, schemas)]))
}

function toOperation(method: string, fullPath: string, operation: Schema): Operation {
  const path = fullPath.slice(PREFIX.length)
  return {
    name: `${method.toUpperCase()} ${path}`,
    operationId: operation.operationId,
    method: method.toUpperCase(),
    path,
    isOpen: operation.security?.length === 0,
    body: getSchema(operation.requestBody),
    upload: findUploadType(Object.keys(operation.requestBody?.content ?? {})),
    query: (operation.parameters ?? []).filter((one: Schema) => one.in === 'query'),
    answers: Object.fromEntries(
      Object.entries<Schema>(operation.responses).map(([status, answer]) => [status, getSchema(answer)]),
    ),
  }
}

const findUploadType = (types: string[]) => (types.includes('application/json') ? null : (types[0] ?? null))

const getSchema = (holder: Schema) => holder?.content?.['application/json']?.schema ?? null
