import type { DataQuery } from '../operations.ts'
import { toRequest } from './request.ts'

/** Commands for calls. `$PICKET_URL` and `$PICKET_API_KEY`: the address of the installation and an API key. */
export const toCurl = (calls: readonly DataQuery[]): string => calls.map(toCommand).join('\n\n')

/** A command that sends a request with these headers and exactly this body. */
export const toPostCommand = (url: string, headers: Record<string, string>, body: string): string =>
  [
    `curl -s -i -g ${quoted(url)}`,
    // a header with an empty value needs a semicolon, or curl leaves it out
    ...Object.entries(headers).map(
      ([name, value]) => `  -H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`,
    ),
    `  --data-raw ${quoted(body)}`,
  ].join(' \\\n')

/** A text as one argument of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

function toCommand(call: DataQuery): string {
  const { method, path, body } = toRequest(call)
  const sent =
    body instanceof Blob
      ? {
          type: body.type.startsWith('image/') ? body.type : 'application/octet-stream',
          data: `--data-binary @${quoted(body instanceof File ? body.name : 'FILE')}`,
        }
      : body !== undefined && { type: 'application/json', data: `-d ${quoted(JSON.stringify(body, null, 2))}` }
  return [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} "$PICKET_URL${path.replaceAll('!', '%21')}"`,
    `  -H "Authorization: Bearer $PICKET_API_KEY"${sent ? ` -H 'Content-Type: ${sent.type}'` : ''}`,
    ...(sent ? [`  ${sent.data}`] : []),
  ].join(' \\\n')
}
