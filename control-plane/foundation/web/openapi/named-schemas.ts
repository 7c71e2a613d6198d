type Schema = Record<string, unknown>

/**
 * Moves each schema with a `title` to the components and refers to it by that name, so that clients get a type `Monitor`
 * that is described once. Throws when two different schemas have the same title.
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

  // examples of a body are not part of its schema
  function refer(title: string, { title: _, examples: __, ...schema }: Schema): Schema {
    const text = JSON.stringify(schema)
    if (named.has(title) && named.get(title) !== text) throw new Error(`two different schemas have the title ${title}`)
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

/** True for the title of a schema, false for a property with the name `title`. */
const isNamed = (node: Schema): node is Schema & { title: string } =>
  typeof node.title === 'string' && ('type' in node || 'anyOf' in node)
