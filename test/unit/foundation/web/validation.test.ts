import t from 'tap'
import {
  joinPath,
  toErrorDetails,
  type ValidationFault,
} from '../../../../control-plane/foundation/web/validation/validation-errors.ts'

const fault = (keyword: string, instancePath: string, params: object = {}): ValidationFault => ({
  keyword,
  instancePath,
  params: params as ValidationFault['params'],
})

t.test('Each fault becomes a path and a sentence', async t => {
  const rows: [ValidationFault, string, string][] = [
    [fault('required', '', { missingProperty: 'name' }), 'name', 'name is required'],
    [
      fault('required', '/assertions/1', { missingProperty: 'operator' }),
      'assertions[1].operator',
      'assertions[1].operator is required',
    ],
    [
      fault('additionalProperties', '/monitors/0', { additionalProperty: 'colour' }),
      'monitors[0].colour',
      'monitors[0].colour is not a known property',
    ],
    [
      fault('type', '/interval_seconds', { type: 'integer' }),
      'interval_seconds',
      'interval_seconds must be an integer',
    ],
    [fault('type', '/ssl_check', { type: 'boolean' }), 'ssl_check', 'ssl_check must be true or false'],
    [fault('type', '', { type: 'object' }), '', 'the body must be an object'],
    [fault('type', '/a~1b', { type: ['string', 'null'] }), 'a/b', 'a/b must be a string or null'],
    [fault('enum', '/type', { allowedValues: ['http', 'ping'] }), 'type', 'type must be one of http, ping'],
    [fault('const', '/deleted', { allowedValue: true }), 'deleted', 'deleted must be true'],
    [fault('minimum', '/interval_seconds', { limit: 30 }), 'interval_seconds', 'interval_seconds must be at least 30'],
    [
      fault('maximum', '/interval_seconds', { limit: 3600 }),
      'interval_seconds',
      'interval_seconds must be at most 3600',
    ],
    [fault('minLength', '/name', { limit: 1 }), 'name', 'name must not be empty'],
    [fault('maxLength', '/tags/2', { limit: 50 }), 'tags[2]', 'tags[2] must have at most 50 characters'],
    [fault('minItems', '/regions', { limit: 1 }), 'regions', 'regions must not be empty'],
    [fault('maxItems', '/monitors', { limit: 50 }), 'monitors', 'monitors must have at most 50 items'],
    [fault('uniqueItems', '/regions'), 'regions', 'regions must not contain the same item twice'],
    [fault('pattern', '/code', { pattern: '^x+$' }), 'code', 'code must match ^x+$'],
    [
      fault('pattern', '/slug', { pattern: '^[a-z0-9-]+$' }),
      'slug',
      'slug must contain only lower-case letters, digits and hyphens',
    ],
    [fault('format', '/email', { format: 'email' }), 'email', 'email must be an email address'],
    [fault('format', '/name', { format: 'line' }), 'name', 'name must not contain line breaks or NUL'],
  ]
  for (const [given, path, message] of rows) t.same(toErrorDetails([given], 'body'), [{ path, message }])
})

t.test('The useful error of a nullable value is kept', async t => {
  const wrongType = [
    fault('type', '/url', { type: 'string' }),
    fault('type', '/url', { type: 'null' }),
    fault('anyOf', '/url'),
  ]
  t.same(toErrorDetails(wrongType, 'body'), [{ path: 'url', message: 'url must be a string or null' }])
  const wrongInside = [
    fault('type', '/assertions/0/value', { type: 'string' }),
    fault('type', '/assertions', { type: 'null' }),
    fault('anyOf', '/assertions'),
  ]
  t.same(toErrorDetails(wrongInside, 'body'), [
    { path: 'assertions[0].value', message: 'assertions[0].value must be a string' },
  ])
})

t.test('Of ten thousand faults the first fifty are reported', async t => {
  const faults = Array.from({ length: 10_000 }, (_, i) => fault('type', `/tags/${i}`, { type: 'string' }))
  t.equal(toErrorDetails(faults, 'body').length, 50)
})

t.test('A path is written with dots and brackets', async t => {
  t.equal(joinPath('', 'config', false), 'config')
  t.equal(joinPath('config', 'url', false), 'config.url')
  t.equal(joinPath('regions', '0', true), 'regions[0]')
})
