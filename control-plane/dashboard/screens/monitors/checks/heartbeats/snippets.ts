/** How jobs send pings: texts to copy. Pure. */

/** `parts`: texts for one tool, each with what it reports. */
type SnippetGroup = { id: string; name: string; parts: readonly { title: string; code: string }[] }

// not a call of this program
const FETCH = 'fetch'
const CURL = 'curl -fsS -m 10 --retry 5 -o /dev/null'
const SUCCESS = 'Success only'
const WHOLE_RUN = 'Start, exit code and log'

/** The texts for a ping URL. */
export const buildSnippets = (url: string): SnippetGroup[] => [
  { id: 'curl', name: 'curl', parts: buildCurl(url) },
  { id: 'cron', name: 'cron', parts: buildCron(url) },
  { id: 'systemd', name: 'systemd', parts: buildSystemd(url) },
  { id: 'powershell', name: 'PowerShell', parts: buildPowerShell(url) },
  { id: 'python', name: 'Python', parts: buildPython(url) },
  { id: 'node', name: 'Node', parts: buildNode(url) },
]

const buildCurl = (url: string) => [
  { title: SUCCESS, code: `/usr/local/bin/backup && ${CURL} ${url}` },
  {
    title: WHOLE_RUN,
    code: [
      `${CURL} ${url}/start`,
      'log=$(/usr/local/bin/backup 2>&1); code=$?',
      `echo "$log" | tail -c 10000 | ${CURL} --data-binary @- ${url}/$code`,
    ].join('\n'),
  },
  {
    title: 'A failure, or a line for the log',
    code: [`${CURL} --data-raw "disk full" ${url}/fail`, `${CURL} --data-raw "half done" ${url}/log`].join('\n'),
  },
]

// a % would end a line of a crontab
const buildCron = (url: string) => [
  { title: SUCCESS, code: `0 3 * * * /usr/local/bin/backup && ${CURL} ${url}` },
  {
    title: WHOLE_RUN,
    code: `0 3 * * * ${CURL} ${url}/start; log=$(/usr/local/bin/backup 2>&1); code=$?; echo "$log" | tail -c 10000 | ${CURL} --data-binary @- ${url}/$code`,
  },
]

// $$ is a dollar sign for the shell; a job that a signal ended has a name instead of a number in EXIT_STATUS
const buildSystemd = (url: string) => [
  {
    title: 'The service: start, exit code and log',
    code: [
      '# /etc/systemd/system/backup.service',
      '[Unit]',
      'Description=Backup',
      '',
      '[Service]',
      'Type=oneshot',
      `ExecStartPre=-${CURL.replace('curl', '/usr/bin/curl')} ${url}/start`,
      'ExecStart=/usr/local/bin/backup',
      `ExecStopPost=-/bin/sh -c 'case "$$EXIT_STATUS" in [0-9]*) s=$$EXIT_STATUS ;; *) s=fail ;; esac; journalctl -o cat _SYSTEMD_INVOCATION_ID=$$INVOCATION_ID | tail -c 10000 | ${CURL} --data-binary @- ${url}/$$s'`,
    ].join('\n'),
  },
  {
    title: 'The timer: systemctl enable --now backup.timer',
    code: [
      '# /etc/systemd/system/backup.timer',
      '[Timer]',
      'OnCalendar=*-*-* 03:00:00',
      'Persistent=true',
      '',
      '[Install]',
      'WantedBy=timers.target',
    ].join('\n'),
  },
]

const buildPowerShell = (url: string) => [
  { title: SUCCESS, code: `Invoke-RestMethod -TimeoutSec 10 -Uri "${url}" | Out-Null` },
  {
    title: WHOLE_RUN,
    code: [
      `$url = "${url}"`,
      'Invoke-RestMethod -TimeoutSec 10 -Uri "$url/start" | Out-Null',
      '$log = & C:\\Jobs\\backup.exe 2>&1 | Out-String',
      '$signal = if ($LASTEXITCODE -ge 0 -and $LASTEXITCODE -le 255) { $LASTEXITCODE } else { "fail" }',
      'Invoke-RestMethod -TimeoutSec 10 -Method Post -Uri "$url/$signal" -ContentType "text/plain; charset=utf-8" -Body $log | Out-Null',
    ].join('\n'),
  },
]

const buildPython = (url: string) => [
  { title: SUCCESS, code: `import urllib.request\nurllib.request.urlopen("${url}", timeout=10)` },
  {
    title: WHOLE_RUN,
    code: [
      'import subprocess, urllib.request',
      '',
      'def ping(signal, log=""):',
      `    urllib.request.urlopen("${url}/" + signal, data=log.encode()[-10000:], timeout=10)`,
      '',
      'ping("start")',
      'job = subprocess.run(["/usr/local/bin/backup"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)',
      'ping(str(job.returncode) if job.returncode >= 0 else "fail", job.stdout)',
    ].join('\n'),
  },
]

const buildNode = (url: string) => [
  { title: SUCCESS, code: `await ${FETCH}('${url}', { signal: AbortSignal.timeout(10_000) })` },
  {
    title: WHOLE_RUN,
    code: [
      "import { spawnSync } from 'node:child_process'",
      '',
      'const ping = (signal, body) =>',
      `  ${FETCH}('${url}/' + signal, { method: 'POST', body, signal: AbortSignal.timeout(10_000) })`,
      '',
      "await ping('start')",
      "const { status, stdout, stderr } = spawnSync('/usr/local/bin/backup', { encoding: 'utf8' })",
      "await ping(String(status ?? 'fail'), ((stdout ?? '') + (stderr ?? '')).slice(-10_000))",
    ].join('\n'),
  },
]
