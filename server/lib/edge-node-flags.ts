/**
 * Flags for the Node of an edge: a small young generation, whose collections are short, so that requests wait less. `--heap-growing-percent`: a heap that
 * grows in small steps. Those of the platform itself are in `cli/prepare.mjs`.
 */
export const edgeNodeFlags = ['--max-semi-space-size=4', '--heap-growing-percent=25']
