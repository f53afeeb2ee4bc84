import type { FailureCode } from '../contract/deployments.ts'

/** One common failure. `pattern` is tested against each line without colors; the first pattern of the list that matches any line is used. */
export interface FailurePattern {
  name: string
  pattern: RegExp
  /** The cause as a sentence. `$1` and so on are the groups of the pattern. */
  message: string
  hint: string
  /** Replaces the failure code of the step. */
  code?: FailureCode
}

/** Ordered: causes before consequences and specific patterns before general ones. `npm error code 1` says less than the line above it. */
export const failurePatterns: FailurePattern[] = [
  // Machine
  {
    name: 'disk-full',
    pattern: /ENOSPC(?!.*watch)|No space left on device/,
    message: 'The disk is full.',
    hint: 'Free up space (old deployments, Docker images), then deploy again.',
    code: 'storage_full',
  },
  {
    name: 'file-watchers',
    pattern: /ENOSPC: System limit for number of file watchers reached/,
    message: 'The build watches files and reached the system limit for file watchers.',
    hint: 'Use a build command that exits after one build, without --watch.',
  },
  {
    name: 'heap-out-of-memory',
    pattern: /JavaScript heap out of memory|Reached heap limit/,
    message: 'Node ran out of memory.',
    hint: 'Raise the project’s memory limit, or reduce the memory use of the build (disable source maps, use fewer workers).',
    code: 'out_of_memory',
  },
  {
    name: 'killed-for-memory',
    pattern: /\bOut of memory\b|\bOOMKilled\b|^Killed$|exit(?:ed with)? code 137|SIGKILL/i,
    message: 'The process was killed because it exceeded its memory limit.',
    hint: 'Raise the project’s memory limit, or reduce the memory use of the build.',
    code: 'out_of_memory',
  },
  // Network
  {
    name: 'next-font-offline',
    pattern:
      /Failed to fetch [`“"']?([^`”"']+?)[`”"']? from Google Fonts|next\/font.*(?:fetch|Failed)|Failed to fetch \S*fonts\.(?:googleapis|gstatic)\.com/,
    message: 'Next.js could not download a font from Google Fonts during the build.',
    hint: 'Check that this machine is online, or add the font to the repository and use next/font/local.',
  },
  {
    name: 'certificate',
    pattern:
      /(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|CERT_HAS_EXPIRED|DEPTH_ZERO_SELF_SIGNED_CERT|self[- ]signed certificate|unable to (?:get local issuer|verify the first) certificate)/i,
    message: 'The TLS certificate of a server is not trusted ($1).',
    hint: 'If your network uses its own certificate authority, set NODE_EXTRA_CA_CERTS to its certificate and restart Homeport.',
  },
  {
    name: 'registry-unknown-host',
    pattern:
      /(?:ENOTFOUND|EAI_AGAIN)\b|Name or service not known|Temporary failure in name resolution|Could not resolve host\b|go: .*dial tcp: lookup \S+/,
    message: 'A hostname could not be resolved.',
    hint: 'Check that this machine is online, and that the address of the package registry is correct: for npm in .npmrc or HOMEPORT_NPMRC.',
  },
  {
    name: 'registry-unreachable',
    pattern: /\b(ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)\b/,
    message: 'A network connection failed ($1).',
    hint: 'Deploy again. If it keeps failing, check the network, the proxy and the registry. The build may also be connecting to a database or API of your own.',
  },
  {
    name: 'registry-credentials',
    pattern: /\bE(401|403)\b|ERR_PNPM_FETCH_(401|403)|(?:Request failed|Response Code:?)\D{0,3}"?(401|403)\b|Unable to authenticate/i,
    message: 'The registry rejected the credentials for a package.',
    hint: 'A private package needs a token: add it as a variable and reference it in .npmrc, for example //registry.example.com/:_authToken=${NPM_TOKEN}.',
  },
  // Install
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
    message: 'This version of pnpm cannot read pnpm-lock.yaml.',
    hint: 'Set packageManager in package.json to the version that wrote it, for example "packageManager": "pnpm@10.33.0", or regenerate the lock file.',
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
    message: 'Two packages require incompatible versions of the same dependency (ERESOLVE).',
    hint: 'Update the packages that npm lists. If the app works anyway, set the project’s install command to npm install --legacy-peer-deps.',
  },
  {
    name: 'no-such-version',
    pattern:
      /No matching version found for ([^\s]+?)\.?(?:$| while)|YN0082: [│\s]*(\S+): No candidates found|Couldn't find any versions for "([^"]+)"/,
    message: 'This package version does not exist: $1$2$3.',
    hint: 'Fix the version in package.json, regenerate the lock file and commit it.',
  },
  {
    name: 'no-such-package',
    pattern:
      /npm error 404\s+(?:The requested resource )?'?([^'\s]+@[^'\s]+)'? (?:is not in (?:this|the npm) registry|could not be found)|ERR_PNPM_FETCH_404\S*\s+GET \S*?\/([^/\s]+): |YN0035: [│\s]*(\S+): Package not found/,
    message: 'This package is not in the registry: $1$2$3.',
    hint: 'Check the package name in package.json. A private package needs its registry and a token in .npmrc.',
  },
  {
    name: 'integrity',
    pattern: /\bEINTEGRITY\b|ERR_PNPM_TARBALL_INTEGRITY|Integrity check failed|YN0018/,
    message: 'A package does not match its checksum in the lock file.',
    hint: 'Regenerate the lock file with the same registry and commit it. If the package comes from a mirror, check the mirror.',
  },
  {
    name: 'workspace-package-missing',
    pattern: /EUNSUPPORTEDPROTOCOL|Unsupported URL Type "workspace:"|ERR_PNPM_WORKSPACE_PKG_NOT_FOUND/,
    message: 'A workspace package was not found.',
    hint: 'Set root_directory to the app’s folder, and commit the lock file in the root of the workspace. The workspace: protocol needs pnpm or yarn.',
  },
  {
    name: 'engine-mismatch',
    pattern:
      /npm (?:error|ERR!) code EBADENGINE|ERR_PNPM_UNSUPPORTED_ENGINE|The engine "node" is incompatible with this module\. Expected version "([^"]+)"|requires Node\.js? (?:version )?([\^>=\d. |<]+)|You are using Node\.js [\d.]+\. For Next\.js, Node\.js version "([^"]+)"/,
    message: 'A package does not support this version of Node.',
    hint: 'Set the project’s node_version, or set the version in .nvmrc or in engines in package.json ($1$2$3).',
  },
  {
    name: 'native-tools-missing',
    pattern:
      /gyp ERR! (?:find Python|stack Error: (?:not found: make|`make` failed|Could not find any Python))|not found: make\b|g\+\+: (?:command )?not found|gyp ERR! build error|make: not found/,
    message: 'A native package could not be compiled: the build tools (python3, make, g++) are missing or failed.',
    hint: 'Update the package to a version with prebuilt binaries for this version of Node, or use a Dockerfile that installs python3, make and g++.',
  },
  {
    name: 'bun-missing',
    pattern: /(?:^|[\s:])bun: (?:command )?not found/,
    message: 'Bun is not installed.',
    hint: 'Add bun to the dependencies (npm install bun) and commit the lock file, or run the script with node.',
  },
  {
    name: 'manager-missing',
    pattern: /(?:^|[\s:])(pnpm|yarn|turbo|nx|lerna): (?:command )?not found/,
    message: '$1 is not installed.',
    hint: 'Add it to package.json: a package manager in packageManager, a tool in devDependencies. Then update the lock file and commit both.',
  },
  {
    name: 'wrong-manager',
    pattern: /This project is configured to use (\w+)|ERR_PNPM_OTHER_PM_EXPECTED|Use "(\w+)" for installation in this project|EBADDEVENGINES/,
    message: 'The project requires a different package manager.',
    hint: 'Set packageManager in package.json, or set the project’s install command.',
  },
  // Build
  {
    name: 'missing-script',
    pattern:
      /Missing script: "?([\w:.-]+)"?|ERR_PNPM_NO_SCRIPT\S*\s+Missing script: (\S+)|error Command "([\w:.-]+)" not found|Couldn't find a script named "([^"]+)"/,
    message: 'package.json has no script “$1$2$3$4”.',
    hint: 'Add the script, or change the project’s build command to an existing script.',
  },
  {
    name: 'typescript',
    pattern: /([^\s(]+\.[cm]?[tj]sx?)(?:\((\d+),(\d+)\)|:(\d+):(\d+)) ?[:-]? ?-? ?error (TS\d+): (.*)/,
    message: 'TypeScript error in $1, line $2$4: $7 ($6).',
    hint: 'Fix the error. Run tsc on your machine to reproduce it.',
  },
  {
    name: 'next-type-error',
    pattern: /^(?:Failed to compile\.?\s*)?Type error: (.*)/,
    message: 'Next.js found a type error: $1',
    hint: 'The log names the file just above this line. Run next build on your machine to reproduce the error.',
  },
  {
    name: 'vite-unresolved-import',
    pattern:
      /(?:\[vite\]:? )?Rol(?:lup|ldown) failed to resolve import "([^"]+)" from "([^"]+)"|\[UNRESOLVED_IMPORT\] (?:Error: )?(?:Could not resolve|Failed to resolve) '([^']+)'(?: in (\S+))?/i,
    message: 'The import “$1$3” in $2$4 could not be resolved.',
    hint: 'For a package, install it and commit the lock file. For a file, check its path, including upper and lower case.',
  },
  {
    name: 'esbuild-unresolved-import',
    pattern: /Could not resolve "([^"]+)"/,
    message: 'The import “$1” could not be resolved.',
    hint: 'For a package, install it and commit the lock file. For a file, check its path, including upper and lower case.',
  },
  {
    name: 'module-not-found',
    pattern: /Module not found: (?:Error: )?Can't resolve '([^']+)'(?: in '([^']+)')?/,
    message: 'The module “$1” was not found.',
    hint: 'For a package, install it and commit the lock file. For a file, check its path, including upper and lower case.',
  },
  {
    name: 'cannot-find-module',
    pattern: /(?:Error: )?Cannot find (?:module|package) '([^']+)'/,
    message: 'Node cannot find “$1”.',
    hint: 'For a package, add it to dependencies in package.json and commit the lock file. For a built file, check that the build command writes it to this path.',
  },
  {
    name: 'missing-database-url',
    pattern:
      /(?:Missing|Undefined) (?:required )?env(?:ironment)? ?var(?:iable)?s?:? ['"`]?DATABASE_URL\b|Environment variable not found: DATABASE_URL\b|\bDATABASE_URL['"`]? (?:environment variable )?(?:is not (?:set|defined)|is (?:missing|required))/,
    message: 'A variable is missing: DATABASE_URL.',
    hint: 'Create a database with homeport db create PROJECT, or add DATABASE_URL to the project’s variables, then deploy again.',
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
    message: 'The Prisma client has not been generated.',
    hint: 'Run prisma generate before the build: "build": "prisma generate && ..." in package.json.',
  },
  {
    name: 'warnings-as-errors',
    pattern: /Treating warnings as errors because process\.env\.CI = true/,
    message: 'Create React App treats warnings as errors when CI is set.',
    hint: 'Fix the warnings above, or set the build command to CI=false npm run build.',
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
    message: 'The page $1$2 failed to render during the build.',
    hint: 'The surrounding log lines show the cause. Often a variable, a database or an API is not available during the build.',
  },
  {
    name: 'broken-links',
    pattern: /Docusaurus found broken links|(\d+) dead link\(s\) found/,
    message: 'The site has broken links.',
    hint: 'The log lists them. Fix them, relax onBrokenLinks (Docusaurus) or set ignoreDeadLinks (VitePress).',
  },
  {
    name: 'bundle-budget',
    pattern: /exceeded maximum budget/,
    message: 'The Angular bundle exceeds a budget in angular.json.',
    hint: 'Raise the budgets in angular.json, or make the bundle smaller.',
  },
  {
    name: 'esm-commonjs',
    pattern:
      /require is not defined in ES module scope|Cannot use import statement outside a module|ERR_REQUIRE_ESM|module is not defined in ES module scope/,
    message: 'A file mixes require and import.',
    hint: 'Set "type" in package.json to match, or rename the file to .cjs or .mjs.',
  },
  {
    name: 'syntax-error',
    pattern: /SyntaxError: (.*)|\[PARSE_ERROR\] (?:Error: )?(.*)|\[vite:\w+\] (?:Parse error|Transform failed)(.*)/,
    message: 'A file has a syntax error: $1$2$3',
    hint: 'The surrounding log lines name the file and position.',
  },
  // Start
  {
    name: 'port-taken',
    pattern: /EADDRINUSE.*?:(\d+)/,
    message: 'The app listens on the fixed port $1, which is already in use.',
    hint: 'Make the app listen on the port in the PORT variable.',
  },
  {
    name: 'privileged-port',
    pattern: /listen EACCES.*?:(\d+)/,
    message: 'The app is not allowed to listen on port $1.',
    hint: 'Make the app listen on the port in the PORT variable.',
  },
  {
    name: 'next-without-build',
    pattern: /Could not find a production build in the '([^']+)' directory/,
    message: 'Next.js found no build in $1.',
    hint: 'Make the build command run next build, and use the same distDir for build and start.',
  },
  {
    name: 'command-not-found',
    pattern:
      /(?:sh|bash)(?:: line)?(?:: \d+)?: ([\w@./-]+): (?:command )?not found|'([\w@./-]+)' is not recognized|exec: "?([\w@./-]+)"?: (?:executable file )?not found/,
    message: 'The command “$1$2$3” is not installed.',
    hint: 'Add the package that provides it to dependencies or devDependencies, and commit the lock file.',
  },
  {
    name: 'permission',
    pattern: /EACCES: permission denied,? ?(?:\w+)? ?'?([^'\s]*)'?/,
    message: 'A file cannot be written or executed: $1.',
    hint: 'Write only inside the app’s own folder, or commit the file with its executable bit.',
  },
]
