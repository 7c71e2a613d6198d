// The entry of the single executable: the probe, or the program that takes one picture when the probe starts it for that.
// In a single executable the arguments begin at argv[2].
const takesPicture = process.argv[2]?.endsWith('/screenshot.js')
void (takesPicture ? import('../../probe-agent/screenshots/main.ts') : import('../../probe-agent/main.ts'))

export {}
