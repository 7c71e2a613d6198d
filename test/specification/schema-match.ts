// biome-ignore lint/suspicious/noExplicitAny: JSON Schemas of any shape
export type Schema = any

/** The difference of a field of a body from the specification; undefined: none. */
export function faultOfField(body: Schema, field: string, wanted: Schema, isRequired: boolean): string | undefined {
  const found = body?.properties?.[field]
  if (!found) return 'is not taken'
  if (isRequired !== (body.required ?? []).includes(field)) return isRequired ? 'is not required' : 'is required'
  return differenceOf(found, wanted)
}

/** The first difference of `found` from `wanted`. `nullable` in `wanted`: null is accepted as well. */
function differenceOf(found: Schema, { nullable, ...wanted }: Schema): string | undefined {
  const branches: Schema[] = found.anyOf ?? [found]
  const takesNull = branches.some(one => one.type === 'null' || (Array.isArray(one.type) && one.type.includes('null')))
  if (nullable === true && !takesNull) return 'takes no null'
  const branch = branches.find(one => one.type !== 'null') ?? {}
  const differing = Object.entries<Schema>(wanted).find(([key, value]) => {
    if (key === 'items') return differenceOf(branch.items ?? {}, value) !== undefined
    if (key === 'properties') return Object.keys(value).some(name => !branch.properties?.[name])
    if (key === 'enum' || key === 'required') return !isSameSet(branch[key] ?? [], value)
    return JSON.stringify(branch[key]) !== JSON.stringify(value)
  })
  return differing && `has another ${differing[0]}`
}

const isSameSet = (a: unknown[], b: unknown[]) => a.length === b.length && a.every(one => b.includes(one))
