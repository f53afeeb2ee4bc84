import type { FailureCode } from '../contract/deployments.ts'

/** One thing that goes wrong often. `pattern` is tried on each line without its colours; the first pattern of the list that fits any line is taken. */
export interface FailurePattern {
  name: string
  pattern: RegExp
  /** What failed, as a sentence. `$1` .. are the groups of the pattern. */
  message: string
  hint: string
  /** When the step's own code does not say it. */
  code?: FailureCode
}

/** Causes before consequences, the particular before the general: `npm error code 1` says less than the line above it. */
export const failurePatterns: FailurePattern[] = [
  // The machine
  {
    name: 'disk-full',
    pattern: /ENOSPC(?!.*watch)|No space left on device/,
    message: 'The disk is full.',
    hint: 'Free some space (old deployments, Docker images), then deploy again.',
    code: 'storage_full',
  },
  {
    name: 'file-watchers',
    pattern: /ENOSPC: System limit for number of file watchers reached/,
    message: 'The build watches files, and the machine’s limit of watchers is reached.',
    hint: 'Use a build command that builds once and ends, without --watch.',
  },
  {
    name: 'heap-out-of-memory',
    pattern: /JavaScript heap out of memory|Reached heap limit/,
    message: 'Node ran out of memory.',
    hint: 'Raise the project’s memory limit, or make the build smaller (source maps off, fewer workers).',
    code: 'out_of_memory',
  },
  {
    name: 'killed-for-memory',
    pattern: /\bOut of memory\b|\bOOMKilled\b|^Killed$|exit(?:ed with)? code 137|SIGKILL/i,
    message: 'It was killed because it used more memory than it may.',
    hint: 'Raise the project’s memory limit, or make the build smaller.',
    code: 'out_of_memory',
  },
  // The network
  {
    name: 'next-font-offline',
    pattern:
      /Failed to fetch [`“"']?([^`”"']+?)[`”"']? from Google Fonts|next\/font.*(?:fetch|Failed)|Failed to fetch \S*fonts\.(?:googleapis|gstatic)\.com/,
    message: 'Next.js could not fetch a font from Google at build time.',
    hint: 'Check that this machine is online, or keep the font in the repository and use next/font/local.',
  },
  {
    name: 'certificate',
    pattern:
      /(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|CERT_HAS_EXPIRED|DEPTH_ZERO_SELF_SIGNED_CERT|self[- ]signed certificate|unable to (?:get local issuer|verify the first) certificate)/i,
    message: 'The certificate of a server that was asked is not trusted ($1).',
    hint: 'If your network has an authority of its own, start Homeport with NODE_EXTRA_CA_CERTS naming its certificate.',
  },
  {
    name: 'registry-unknown-host',
    pattern: /(?:ENOTFOUND|EAI_AGAIN)\b/,
    message: 'A host on the network could not be found.',
    hint: 'Check that this machine is online, and the registry in .npmrc or HOMEPORT_NPMRC.',
  },
  {
    name: 'registry-unreachable',
    pattern: /\b(ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)\b/,
    message: 'A connection over the network failed ($1).',
    hint: 'Try again; if it stays so, check the network, the proxy and the registry. At build time a database or an API of yours may also be meant.',
  },
  {
    name: 'registry-credentials',
    pattern: /\bE(401|403)\b|ERR_PNPM_FETCH_(401|403)|(?:Request failed|Response Code:?)\D{0,3}"?(401|403)\b|Unable to authenticate/i,
    message: 'The registry refuses the credentials for a package.',
    hint: 'A private package needs a token: add it as a variable and name it in .npmrc, such as //registry.example.com/:_authToken=${NPM_TOKEN}.',
  },
  // Installing
  {
    name: 'npm-lock-out-of-date',
    pattern: /`npm ci` can only install packages when your package\.json and package-lock\.json/,
    message: 'package-lock.json does not match package.json.',
    hint: 'Run npm install, commit package-lock.json, and deploy again.',
  },
  {
    name: 'pnpm-lock-out-of-date',
    pattern: /ERR_PNPM_OUTDATED_LOCKFILE|ERR_PNPM_LOCKFILE_CONFIG_MISMATCH|Cannot install with "frozen-lockfile"/,
    message: 'pnpm-lock.yaml does not match package.json.',
    hint: 'Run pnpm install, commit pnpm-lock.yaml, and deploy again.',
  },
  {
    name: 'pnpm-lock-broken',
    pattern: /ERR_PNPM_(?:BROKEN_LOCKFILE|LOCKFILE_BREAKING_CHANGE)/,
    message: 'pnpm-lock.yaml cannot be read by this version of pnpm.',
    hint: 'Name the version that wrote it in package.json, such as "packageManager": "pnpm@10.33.0", or write the lock file anew.',
  },
  {
    name: 'yarn-classic-lock-out-of-date',
    pattern: /Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`/,
    message: 'yarn.lock does not match package.json.',
    hint: 'Run yarn install, commit yarn.lock, and deploy again.',
  },
  {
    name: 'yarn-immutable',
    pattern: /YN0028|The lockfile would have been (?:modified|created) by this install, which is explicitly forbidden/,
    message: 'yarn.lock does not match package.json.',
    hint: 'Run yarn install, commit yarn.lock, and deploy again.',
  },
  {
    name: 'peer-conflict',
    pattern: /ERESOLVE (?:unable to resolve dependency tree|could not resolve)/,
    message: 'Two packages want versions of a third that do not fit together (ERESOLVE).',
    hint: 'Update the packages that npm names. If the app works in spite of it, set the install command of the project to npm install --legacy-peer-deps.',
  },
  {
    name: 'no-such-version',
    pattern:
      /No matching version found for ([^\s]+?)\.?(?:$| while)|YN0082: [│\s]*(\S+): No candidates found|Couldn't find any versions for "([^"]+)"/,
    message: 'There is no such version of a package: $1$2$3.',
    hint: 'Correct the version in package.json, write the lock file anew and commit it.',
  },
  {
    name: 'no-such-package',
    pattern:
      /npm error 404\s+(?:The requested resource )?'?([^'\s]+@[^'\s]+)'? (?:is not in (?:this|the npm) registry|could not be found)|ERR_PNPM_FETCH_404\S*\s+GET \S*?\/([^/\s]+): |YN0035: [│\s]*(\S+): Package not found/,
    message: 'The registry does not know a package: $1$2$3.',
    hint: 'Check its name in package.json. A private package needs its registry and a token in .npmrc.',
  },
  {
    name: 'integrity',
    pattern: /\bEINTEGRITY\b|ERR_PNPM_TARBALL_INTEGRITY|Integrity check failed|YN0018/,
    message: 'A package is not the one that the lock file was written for.',
    hint: 'Write the lock file anew with the same registry and commit it; if the package comes from a mirror, check the mirror.',
  },
  {
    name: 'workspace-package-missing',
    pattern: /EUNSUPPORTEDPROTOCOL|Unsupported URL Type "workspace:"|ERR_PNPM_WORKSPACE_PKG_NOT_FOUND/,
    message: 'A package of the workspace is not found.',
    hint: 'Set root_directory to the app inside the repository, and commit the lock file of the workspace’s root. workspace: needs pnpm or yarn.',
  },
  {
    name: 'engine-mismatch',
    pattern:
      /npm (?:error|ERR!) code EBADENGINE|ERR_PNPM_UNSUPPORTED_ENGINE|The engine "node" is incompatible with this module\. Expected version "([^"]+)"|requires Node\.js? (?:version )?([\^>=\d. |<]+)|You are using Node\.js [\d.]+\. For Next\.js, Node\.js version "([^"]+)"/,
    message: 'A package does not work with this version of Node.',
    hint: 'Set the project’s node_version, or name the version in .nvmrc or in engines of package.json ($1$2$3).',
  },
  {
    name: 'native-tools-missing',
    pattern:
      /gyp ERR! (?:find Python|stack Error: (?:not found: make|`make` failed|Could not find any Python))|not found: make\b|g\+\+: (?:command )?not found|gyp ERR! build error|make: not found/,
    message: 'A package must be compiled, and the tools for it (python3, make, g++) are missing or failed.',
    hint: 'Update the package to a version with prebuilt binaries for this Node, or use a Dockerfile that installs python3, make and g++.',
  },
  {
    name: 'bun-missing',
    pattern: /(?:^|[\s:])bun: (?:command )?not found/,
    message: 'Bun is not installed.',
    hint: 'Add it to the dependencies (npm install bun) and commit the lock file, or run the script with node.',
  },
  {
    name: 'manager-missing',
    pattern: /(?:^|[\s:])(pnpm|yarn|turbo|nx|lerna): (?:command )?not found/,
    message: '$1 is not installed.',
    hint: 'Name it in package.json: package managers in packageManager, tools in devDependencies, with the lock file written anew.',
  },
  {
    name: 'wrong-manager',
    pattern: /This project is configured to use (\w+)|ERR_PNPM_OTHER_PM_EXPECTED|Use "(\w+)" for installation in this project|EBADDEVENGINES/,
    message: 'The project wants another package manager than the one that was used.',
    hint: 'Name it in packageManager of package.json, or set the install command.',
  },
  // Building
  {
    name: 'missing-script',
    pattern:
      /Missing script: "?([\w:.-]+)"?|ERR_PNPM_NO_SCRIPT\S*\s+Missing script: (\S+)|error Command "([\w:.-]+)" not found|Couldn't find a script named "([^"]+)"/,
    message: 'package.json has no script “$1$2$3$4”.',
    hint: 'Add the script, or set the project’s build command to one that is there.',
  },
  {
    name: 'typescript',
    pattern: /([^\s(]+\.[cm]?[tj]sx?)(?:\((\d+),(\d+)\)|:(\d+):(\d+)) ?[:-]? ?-? ?error (TS\d+): (.*)/,
    message: 'TypeScript found an error in $1, line $2$4: $7 ($6).',
    hint: 'Correct it there; tsc on your machine shows the same.',
  },
  {
    name: 'next-type-error',
    pattern: /^(?:Failed to compile\.?\s*)?Type error: (.*)/,
    message: 'Next.js found a type error: $1',
    hint: 'The lines above it in the log name the file. next build on your machine shows the same.',
  },
  {
    name: 'vite-unresolved-import',
    pattern:
      /(?:\[vite\]:? )?Rol(?:lup|ldown) failed to resolve import "([^"]+)" from "([^"]+)"|\[UNRESOLVED_IMPORT\] (?:Error: )?(?:Could not resolve|Failed to resolve) '([^']+)'(?: in (\S+))?/i,
    message: 'The import “$1$3” in $2$4 leads nowhere.',
    hint: 'Install the package that it names and commit the lock file; for a file check its name, capital letters included.',
  },
  {
    name: 'esbuild-unresolved-import',
    pattern: /Could not resolve "([^"]+)"/,
    message: 'The import “$1” leads nowhere.',
    hint: 'Install the package that it names and commit the lock file; for a file check its name, capital letters included.',
  },
  {
    name: 'module-not-found',
    pattern: /Module not found: (?:Error: )?Can't resolve '([^']+)'(?: in '([^']+)')?/,
    message: 'The module “$1” is not found.',
    hint: 'Install the package that it names and commit the lock file; for a file check its name: here capital letters count.',
  },
  {
    name: 'cannot-find-module',
    pattern: /(?:Error: )?Cannot find (?:module|package) '([^']+)'/,
    message: 'Node cannot find “$1”.',
    hint: 'Is it in dependencies of package.json and in the lock file? For a built file: does the build command make it, and at this path?',
  },
  {
    name: 'missing-database-url',
    pattern:
      /(?:Missing|Undefined) (?:required )?env(?:ironment)? ?var(?:iable)?s?:? ['"`]?DATABASE_URL\b|Environment variable not found: DATABASE_URL\b|\bDATABASE_URL['"`]? (?:environment variable )?(?:is not (?:set|defined)|is (?:missing|required))/,
    message: 'A variable is missing: DATABASE_URL.',
    hint: 'Make a database for the project with homeport db create PROJECT, or add DATABASE_URL to its variables, then deploy again.',
  },
  {
    name: 'missing-variable',
    pattern:
      /(?:Missing|Undefined) (?:required )?env(?:ironment)? ?var(?:iable)?s?:? ['"`]?([A-Z][A-Z0-9_]+)?|Environment variable not found: ([A-Z][A-Z0-9_]+)|Invalid environment variables|([A-Z][A-Z0-9_]{2,}) (?:environment variable )?(?:is not (?:set|defined)|is (?:missing|required))/,
    message: 'A variable is missing: $1$2$3.',
    hint: 'Add it to the project’s variables for this environment, then deploy again.',
  },
  {
    name: 'prisma-client',
    pattern: /@prisma\/client did not initialize yet/,
    message: 'Prisma’s client has not been generated.',
    hint: 'Run prisma generate before the build: "build": "prisma generate && ..." in package.json.',
  },
  {
    name: 'warnings-as-errors',
    pattern: /Treating warnings as errors because process\.env\.CI = true/,
    message: 'Create React App takes warnings for errors when CI is set.',
    hint: 'Correct the warnings above, or set the build command to CI=false npm run build.',
  },
  {
    name: 'legacy-openssl',
    pattern: /ERR_OSSL_EVP_UNSUPPORTED|error:0308010C/,
    message: 'The build tool is too old for this version of Node (OpenSSL 3).',
    hint: 'Update it (webpack 5, react-scripts 5), or set the build command to NODE_OPTIONS=--openssl-legacy-provider npm run build.',
  },
  {
    name: 'prerender',
    pattern: /Error occurred prerendering page "([^"]+)"|prerender.*\b(?:404|500)\b (\/\S*)/i,
    message: 'The page $1$2 failed while it was rendered at build time.',
    hint: 'The lines around it say why; often a variable, a database or an API is missing at build time.',
  },
  {
    name: 'broken-links',
    pattern: /Docusaurus found broken links|(\d+) dead link\(s\) found/,
    message: 'The site has links that lead nowhere.',
    hint: 'The log lists them. Correct them, or lower onBrokenLinks (Docusaurus) or set ignoreDeadLinks (VitePress).',
  },
  {
    name: 'bundle-budget',
    pattern: /exceeded maximum budget/,
    message: 'Angular’s bundle is larger than angular.json allows.',
    hint: 'Raise the budgets in angular.json, or make the bundle smaller.',
  },
  {
    name: 'esm-commonjs',
    pattern:
      /require is not defined in ES module scope|Cannot use import statement outside a module|ERR_REQUIRE_ESM|module is not defined in ES module scope/,
    message: 'A file mixes require and import.',
    hint: 'Set "type" in package.json to fit, or give the file the ending .cjs or .mjs.',
  },
  {
    name: 'syntax-error',
    pattern: /SyntaxError: (.*)|\[PARSE_ERROR\] (?:Error: )?(.*)|\[vite:\w+\] (?:Parse error|Transform failed)(.*)/,
    message: 'A file cannot be read as code: $1$2$3',
    hint: 'The lines around it in the log name the file and the place.',
  },
  // Starting
  {
    name: 'port-taken',
    pattern: /EADDRINUSE.*?:(\d+)/,
    message: 'The app listens on the fixed port $1, which is taken.',
    hint: 'Let it listen on the port that the variable PORT names.',
  },
  {
    name: 'privileged-port',
    pattern: /listen EACCES.*?:(\d+)/,
    message: 'The app may not listen on port $1.',
    hint: 'Let it listen on the port that the variable PORT names.',
  },
  {
    name: 'next-without-build',
    pattern: /Could not find a production build in the '([^']+)' directory/,
    message: 'Next.js finds no build in $1.',
    hint: 'Let the build command run next build, and do not change distDir between build and start.',
  },
  {
    name: 'command-not-found',
    pattern:
      /(?:sh|bash)(?:: line)?(?:: \d+)?: ([\w@./-]+): (?:command )?not found|'([\w@./-]+)' is not recognized|exec: "?([\w@./-]+)"?: (?:executable file )?not found/,
    message: 'The command “$1$2$3” is not installed.',
    hint: 'Install the package that has it (dependencies or devDependencies), and commit the lock file.',
  },
  {
    name: 'permission',
    pattern: /EACCES: permission denied,? ?(?:\w+)? ?'?([^'\s]*)'?/,
    message: 'A file may not be written or run: $1.',
    hint: 'Write only below the app’s own folder, or commit the file with its executable bit.',
  },
]
