import t from 'tap'
import { decodeBody } from '../../../shared/checks/body-text.ts'

const text = (hex: string, contentType?: string) =>
  decodeBody({
    body: Buffer.from(hex, 'hex'),
    headers: contentType === undefined ? null : { 'content-type': contentType },
  })

t.test('A body is decoded by the charset of its response', async t => {
  t.equal(text('e9', 'text/html; charset=ISO-8859-1'), 'é')
  t.equal(text('e9', 'text/html; charset="windows-1252"'), 'é')
  t.equal(text('82a0', 'text/plain;charset=Shift_JIS'), 'あ')
  t.equal(text('c3a9', 'text/html; charset=utf-8'), 'é')
  t.equal(text('c3a9', 'text/html'), 'é')
  t.equal(text('c3a9'), 'é')
})

t.test('A byte order mark is removed', async t => {
  t.equal(text('efbbbf61'), 'a')
  t.equal(text('fffe6100'), 'a')
  t.equal(text('feff0061'), 'a')
  t.equal(text('61', 'text/html; charset=unheard-of'), 'a')
  t.equal(text('ff61'), '\ufffda')
  t.equal(decodeBody({ body: null, headers: null }), '')
})
