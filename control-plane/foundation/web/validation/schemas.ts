import { type TProperties, type TSchema, Type } from 'typebox'
import { ERROR_CODES } from '../server/errors.ts'

/** An object that refuses unknown properties. Every request body and query is one (docs/design/api.md#validation). */
export const strictObject = <T extends TProperties>(
  properties: T,
  options: { title?: string; description?: string; examples?: object[] } = {},
) => Type.Object(properties, { ...options, additionalProperties: false })

/** A string enumeration. */
export const stringEnum = <const T extends readonly string[]>(values: T, options: { default?: T[number] } = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

export const nullable = <T extends TSchema>(schema: T, options: { default?: unknown; description?: string } = {}) =>
  Type.Union([schema, Type.Null()], options)

/** A read-only property. A write accepts and ignores it, so that a record can be sent back as it was read. */
export const ignoredText = Type.Optional(
  Type.String({ maxLength: 100, description: 'Read-only. Ignored in requests.' }),
)

/** Text for a header, a subject, a host or a name: no CR, LF or NUL. */
export const lineText = (minLength: number, maxLength: number) => Type.String({ minLength, maxLength, format: 'line' })

/** The name of a record: one line of 1-100 characters. */
export const Name = lineText(1, 100)

export const Id = Type.String({ description: 'UUIDv7' })

/** Path parameters of `/things/:id`. A malformed id is a 404, so nothing is validated here; see `isId`. */
export const IdParams = Type.Object({ id: Type.String() })

/** For responses only. A `Date` becomes ISO 8601 UTC with milliseconds. */
export const Timestamp = Type.Unsafe<Date | string>({ type: 'string', format: 'date-time' })

/** Query properties of a paginated list; spread them with the filters into a `strictObject` (docs/design/api.md#pagination). */
export const pageProperties = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Number of the page, from 1. Default 1.' }),
  ),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Records on a page. Default 25.' })),
}
export const PageQuery = strictObject(pageProperties)

export const PaginationMeta = Type.Object(
  {
    page: Type.Integer(),
    per_page: Type.Integer(),
    total: Type.Integer(),
    total_pages: Type.Integer(),
  },
  { title: 'PaginationMeta' },
)

/** `{ data }` */
export const dataSchema = <T extends TSchema>(schema: T) => Type.Object({ data: schema })

/** `{ data: [...], meta }` */
export const pageSchema = <T extends TSchema>(schema: T) =>
  Type.Object({ data: Type.Array(schema), meta: PaginationMeta })

export const DeletedResponse = dataSchema(Type.Object({ id: Id, deleted: Type.Literal(true) }))

export const ErrorResponse = Type.Object({
  error: Type.Object({
    code: stringEnum(ERROR_CODES),
    message: Type.String({ description: 'A sentence for people. It may change; use `code` in programs.' }),
    status: Type.Integer({ description: 'The HTTP status' }),
    details: Type.Optional(
      Type.Array(Type.Object({ path: Type.String({ description: 'assertions[0].value' }), message: Type.String() }), {
        description: 'Each invalid field with its path',
      }),
    ),
  }),
})

/** The responses of a route: its success, and the error statuses beyond those of every route. */
export const responseSchemas = <S extends number, T extends TSchema>(status: S, schema: T, ...errors: number[]) =>
  ({
    [status]: schema,
    ...Object.fromEntries(errors.map(error => [error, ErrorResponse])),
  }) as { [K in S]: T }
