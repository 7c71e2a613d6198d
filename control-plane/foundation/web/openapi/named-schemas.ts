type Schema = Record<string, unknown>

/**
 * The document with each schema that has a `title` moved to its components and referred to by that name, so that a
 * client gets a type `Monitor` and the document says once what a monitor is. Two shapes of one title throw: a client
 * could not tell them apart.
 */
export function extractNamedSchemas<Document extends object>(document: Document): Document {
  const named = new Map<string, string>()
  const schemas: Schema = {}

  function walk(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, walk(value)]))
    return isNamed(inner) ? refer(inner.title, inner) : inner
  }

  // examples of a body stand beside it
  function refer(title: string, { title: _, examples: __, ...schema }: Schema): Schema {
    const text = JSON.stringify(schema)
    if (named.has(title) && named.get(title) !== text) throw new Error(`two schemas are called ${title}`)
    named.set(title, text)
    schemas[title] = schema
    return { $ref: `#/components/schemas/${title}` }
  }

  const { paths, components, ...rest } = document as Schema & { components?: { schemas?: Schema } }
  const walked = walk(paths)
  return {
    ...rest,
    components: { ...components, schemas: { ...components?.schemas, ...schemas } },
    paths: walked,
  } as never
}

/** A title of a schema, not a property that is called title. */
const isNamed = (node: Schema): node is Schema & { title: string } =>
  typeof node.title === 'string' && ('type' in node || 'anyOf' in node)
