/** A call of the API as a command. `$PICKET_URL` and `$PICKET_KEY` are the address of the installation and an API key. */
export function toCurl(method: 'POST' | 'PUT', path: string, body: unknown): string {
  const quoted = `'${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`
  return [
    `curl -s -X ${method} "$PICKET_URL/api/v1${path}" \\`,
    `  -H "Authorization: Bearer $PICKET_KEY" -H 'Content-Type: application/json' \\`,
    `  -d ${quoted}`,
  ].join('\n')
}

/** What a form does, as a call of the API. */
export const AsCall = ({ command }: { command: string }) => (
  <details class="group">
    <summary>
      <span class="group-title">The same as an API call</span> <span class="soft small">curl</span>
    </summary>
    <pre dir="ltr">{command}</pre>
  </details>
)

/** For browsers without scripts: why the form does nothing, and what to do instead. */
export const NeedsScript = ({ what, command }: { what: string; command: string }) => (
  <div class="needs-script">
    <p class="missing">{what} in this page needs scripts, which this browser does not run. The API does the same:</p>
    <pre dir="ltr">{command}</pre>
  </div>
)
