import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Server } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

/** Lets clients list the services of a file below `proto/` on this server. */
export async function addReflection(server: Server, protoFile: string): Promise<void> {
  // not at the top: the package is not part of the bundle, which would load it at each start
  const { ReflectionService } = await import('@grpc/reflection')
  const includeDirs = [join(findPackageRoot(), 'proto')]
  new ReflectionService(loadSync(protoFile, { includeDirs })).addToServer(server)
}

/** The folder of package.json, from the source tree and from the bundle in dist/. */
function findPackageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!isRoot(folder)) {
    if (dirname(folder) === folder) throw new Error('no package.json of picket in a folder above this program')
    folder = dirname(folder)
  }
  return folder
}

function isRoot(folder: string): boolean {
  const file = join(folder, 'package.json')
  return existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name === 'picket'
}
