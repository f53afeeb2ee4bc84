import { Range, SemVer, intersects, minVersion, valid, validRange } from 'semver'
import { DetectFailure } from './detect-failure.ts'
import type { Manifest } from './manifest.ts'
import { joinInside, readFirst, type SourceFolder } from './source-folder.ts'

/** Majors with long-term support, newest first; the first is the default. */
const ltsMajors = ['24', '22', '20'] as const
const codenames: Record<string, string> = { iron: '20', jod: '22', krypton: '24' }

export interface NodeVersion {
  version: string
  reason: string
  /** Where the version comes from. */
  origin: string
}

/** The Node version for build and start: the project's setting, else a version file, else `engines`, else the default. */
export async function chooseNodeVersion(
  source: SourceFolder,
  directories: string[],
  manifests: Manifest[],
  setting: string,
  settingOrigin: string,
): Promise<NodeVersion> {
  if (setting !== 'auto') {
    const version = resolveNodeVersion(setting)
    if (!version)
      throw new DetectFailure(
        `The project’s node_version is “${setting}”, which is not a Node version.`,
        'Set it to auto, to a version such as 24 or 22.11.0, or to a range such as >=20.',
      )
    return { version, reason: `Node ${version}, from the project’s node_version (${setting})`, origin: settingOrigin }
  }
  for (const directory of directories) {
    const file = await readFirst(source, directory, ['.nvmrc', '.node-version'])
    const line = file?.text
      .split('\n')
      .map((text) => text.replace(/#.*/, '').trim())
      .find(Boolean)
    if (!file || !line) continue
    const version = resolveNodeVersion(line)
    if (version) return { version, reason: `Node ${version}: ${file.name} says ${line}`, origin: joinInside(directory, file.name) }
  }
  for (const { engines_node } of manifests) {
    const version = engines_node && resolveNodeVersion(engines_node)
    if (version) return { version, reason: `Node ${version}, from engines in package.json (${engines_node})`, origin: 'package.json engines.node' }
  }
  return { version: ltsMajors[0], reason: `Node ${ltsMajors[0]} (default): the source does not specify a version`, origin: 'default' }
}

/** Keeps an exact version and maps a range to its newest known major; undefined when the text cannot be parsed. */
export function resolveNodeVersion(text: string): string | undefined {
  const requested = text
    .trim()
    .replace(/^node@/i, '')
    .toLowerCase()
  if (/^(node|latest|current|stable|lts\/\*|lts|\*|x)$/.test(requested)) return ltsMajors[0]
  const codename = requested.match(/^lts\/([a-z]+)$/)?.[1]
  if (codename) return codenames[codename]
  const exact = valid(requested.replace(/^[=v\s]+/, ''))
  if (exact) return exact
  if (!validRange(requested)) return undefined
  const range = new Range(requested)
  const known = ltsMajors.find((major) => intersects(range, `${major}.x`))
  if (known) return known
  const minimum = minVersion(range)
  return minimum instanceof SemVer ? String(minimum.major) : undefined
}
