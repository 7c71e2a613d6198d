// The entry of the single executable: the probe or, as it starts itself for that, the program that takes one picture.
// In such an executable what was asked for begins at argv[2].
const takesPicture = process.argv[2]?.endsWith('/screenshot.js')
void (takesPicture ? import('../../probe-agent/screenshots/main.ts') : import('../../probe-agent/main.ts'))

export {}
