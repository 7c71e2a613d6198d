import t from 'tap'
import { parseRequest } from '../../../tools/engines/clickhouse/request.ts'
import { listForbiddenIdentifiers } from '../../../tools/engines/clickhouse/statement.ts'

const forbidden = listForbiddenIdentifiers(['url', 'numbers'], ['aiGenerate'])

const parse = (query: string, body = '') => parseRequest(new URLSearchParams(query), body, () => undefined, forbidden)

t.test('A statement in the body runs unchanged', async t => {
  t.match(parse('query_id=q1', 'SELECT 1'), { sql: 'SELECT 1', preparation: [], queryId: 'q1', insertedRows: null })
})

t.test('Database, settings and parameters are set on the request’s connection', async t => {
  const { preparation } = parse("database=a`b&max_threads=1&param_id=it's&wait_end_of_query=1", 'SELECT {id:String}')
  t.same(preparation, ['USE `a\\`b`', "SET max_threads = '1'", "SET param_id = 'it\\'s'"])
})

t.test('The rows of an insert follow its statement and are counted', async t => {
  const insert = (body: string) => parse('query=INSERT INTO t FORMAT JSONEachRow', body)
  t.equal(insert('{"a":1}\n{"a":2}\n').sql, 'INSERT INTO t FORMAT JSONEachRow\n{"a":1}\n{"a":2}\n')
  t.equal(insert('{"a":1}\n{"a":2}\n').insertedRows, 2)
  t.equal(insert('{"a":1}\n{"a":2}').insertedRows, 2)
  t.equal(insert('').insertedRows, 0)
})

t.test('A setting with SQL in its name is refused', async t => {
  t.throws(() => parse('x%20%3D%201%3B%20DROP=1', 'SELECT 1'), /Unknown setting/)
})

t.test('A forbidden table function name is allowed as a column, an alias and a string', async t => {
  for (const sql of [
    `SELECT url, max(url) AS URL FROM t WHERE a = 'url(' AND url > 1`,
    'SELECT a FROM t GROUP BY url ORDER BY -a, b - -1, {x:DateTime64(3)}',
    'SELECT x -> x + 1 FROM numbers(3)',
    'CREATE TABLE t (url String) ENGINE = MergeTree ORDER BY url SETTINGS ttl_only_drop_parts = 1',
  ]) {
    t.equal(parse('', sql).sql, sql)
  }
  t.throws(() => parse('', 'SELECT Url (1)'), /Url is not allowed/)
  t.throws(() => parse('', 'SELECT arrayMap(AIgenerate, [1])'), /AIgenerate is not allowed/)
})
