/** The root of the repository or of the installation. */
export const root: string
/** Bundles that are built from sources; all paths are relative to the root, those of `files` to `folder`. */
export interface Bundles {
  sources: string[]
  /** Scripts of packages with their arguments. */
  commands: string[][]
  folder: string
  files: string[]
  /** Printed before a build. */
  announcement?: string
}
/** Builds bundles, by default those of the application, if a source has changed since the last build; returns whether it did. */
export function buildChanged(bundles?: Bundles): Promise<boolean>
/** Flags for the Node process of the platform. */
export const nodeFlags: string[]
