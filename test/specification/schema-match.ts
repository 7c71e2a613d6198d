// biome-ignore lint/suspicious/noExplicitAny: JSON Schemas of any shape
export type Schema = any

/** Returns how a field of a body differs from the published one, or undefined. */
export function faultOfField(body: Schema, field: string, wanted: Schema, isRequired: boolean): string | undefined {
  const found = body?.properties?.[field]
  if (!found) return 'is not taken'
  if (isRequired !== (body.required ?? []).includes(field)) return isRequired ? 'is not required' : 'is required'
  return findDifference(found, wanted)
}

/** Returns the first property of `wanted` that `found` lacks. `nullable` in `wanted`: null is accepted too. */
function findDifference(found: Schema, { nullable, ...wanted }: Schema): string | undefined {
  const branches: Schema[] = found.anyOf ?? [found]
  const takesNull = branches.some(one => one.type === 'null' || (Array.isArray(one.type) && one.type.includes('null')))
  if (nullable === true && !takesNull) return 'takes no null'
  const branch = branches.find(one => one.type !== 'null') ?? {}
  const differing = Object.entries<Schema>(wanted).find(([key, value]) => {
    if (key === 'items') return findDifference(branch.items ?? {}, value) !== undefined
    if (key === 'properties') return Object.keys(value).some(name => !branch.properties?.[name])
    if (key === 'enum' || key === 'required') return !isSameSet(branch[key] ?? [], value)
    return JSON.stringify(branch[key]) !== JSON.stringify(value)
  })
  return differing && `has another ${differing[0]}`
}

const isSameSet = (a: unknown[], b: unknown[]) => a.length === b.length && a.every(one => b.includes(one))
