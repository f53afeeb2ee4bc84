import type { FailedStep } from '../../server/builder/index.ts'
import type { FailureCode } from '../../server/contract/deployments.ts'

/** Lines as a tool prints them, and what has to be made of them. `line` and `message` are parts of what is answered. */
export interface FailureSample {
  name: string
  step: FailedStep
  output: string
  code?: FailureCode
  message: string
  hint: string
  line: string
}

export const installSamples: FailureSample[] = [
  {
    name: 'npm ci, lock out of date',
    step: 'install',
    message: 'package-lock.json does not match',
    hint: 'commit package-lock.json',
    line: 'npm ci',
    output:
      'npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.\nnpm error\nnpm error Missing: is-odd@3.0.1 from lock file\nnpm error A complete log of this run can be found in: /logs/debug-0.log',
  },
  {
    name: 'npm, peers in conflict',
    step: 'install',
    message: 'do not fit together (ERESOLVE)',
    hint: '--legacy-peer-deps',
    line: 'unable to resolve dependency tree',
    output:
      'npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error\nnpm error While resolving: a@1.0.0\nnpm error Found: react@16.14.0\nnpm error Could not resolve dependency:\nnpm error peer react@"^18.3.1" from react-dom@18.3.1',
  },
  {
    name: 'npm, no such package',
    step: 'install',
    message: 'does not know a package: no-such-package-x@^1.0.0.',
    hint: 'Check its name',
    line: 'could not be found',
    output:
      "npm error code E404\nnpm error 404 Not Found - GET https://registry.example.com/no-such-package-x\nnpm error 404\nnpm error 404  The requested resource 'no-such-package-x@^1.0.0' could not be found or you do not have permission to access it.\nnpm error 404 tarball, folder, http url, or git url.",
  },
  {
    name: 'npm 10, no such package',
    step: 'install',
    message: 'does not know a package: no-such-package-x@^1.0.0.',
    hint: 'Check its name',
    line: 'is not in this registry',
    output:
      "npm error code E404\nnpm error 404 Not Found - GET https://registry.example.com/no-such-package-x\nnpm error 404  'no-such-package-x@^1.0.0' is not in this registry.",
  },
  {
    name: 'pnpm, no such package',
    step: 'install',
    message: 'does not know a package: no-such-package-x.',
    hint: 'Check its name',
    line: 'ERR_PNPM_FETCH_404',
    output:
      ' ERR_PNPM_FETCH_404  GET https://registry.example.com/no-such-package-x: Not Found - 404\n\nThis error happened while installing a direct dependency of /app',
  },
  {
    name: 'yarn 4, no such package',
    step: 'install',
    message: 'does not know a package: nope@npm:^1.0.0.',
    hint: 'Check its name',
    line: 'YN0035',
    output:
      '➤ YN0000: ┌ Resolution step\n➤ YN0035: │ nope@npm:^1.0.0: Package not found\n➤ YN0035: │   Response Code: 404 (Not Found)\n➤ YN0000: └ Completed',
  },
  {
    name: 'npm, no such version',
    step: 'install',
    message: 'no such version of a package: is-odd@99.0.0.',
    hint: 'Correct the version',
    line: 'No matching version',
    output:
      "npm error code ETARGET\nnpm error notarget No matching version found for is-odd@99.0.0.\nnpm error notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist.",
  },
  {
    name: 'pnpm, no such version',
    step: 'install',
    message: 'no such version of a package: is-odd@99.0.0.',
    hint: 'Correct the version',
    line: 'NO_MATCHING_VERSION',
    output:
      ' ERR_PNPM_NO_MATCHING_VERSION  No matching version found for is-odd@99.0.0 while fetching it from https://registry.example.com/\n\nThe latest release of is-odd is "3.0.1".',
  },
  {
    name: 'yarn 1, no such version',
    step: 'install',
    message: 'no such version of a package: is-odd.',
    hint: 'Correct the version',
    line: "Couldn't find",
    output:
      'error Couldn\'t find any versions for "is-odd" that matches "99.0.0"\ninfo Visit https://yarnpkg.com/en/docs/cli/install for documentation about this command.',
  },
  {
    name: 'npm, unknown host',
    step: 'install',
    message: 'A host on the network could not be found',
    hint: 'online',
    line: 'ENOTFOUND',
    output:
      'npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error network request to http://registry.invalid/is-odd failed, reason: getaddrinfo ENOTFOUND registry.invalid',
  },
  {
    name: 'npm, connection refused',
    step: 'install',
    message: '(ECONNREFUSED)',
    hint: 'proxy',
    line: 'ECONNREFUSED',
    output:
      'npm error code ECONNREFUSED\nnpm error FetchError: request to http://127.0.0.1:9/is-odd failed, reason: connect ECONNREFUSED 127.0.0.1:9\nnpm error     at ClientRequest.emit (node:events:524:28)',
  },
  {
    name: 'npm, certificate',
    step: 'install',
    message: 'is not trusted (SELF_SIGNED_CERT_IN_CHAIN)',
    hint: 'NODE_EXTRA_CA_CERTS',
    line: 'SELF_SIGNED',
    output:
      'npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error request to https://registry.example.com/is-odd failed, reason: self-signed certificate in certificate chain',
  },
  {
    name: 'npm, credentials',
    step: 'install',
    message: 'refuses the credentials',
    hint: 'token',
    line: 'E401',
    output: 'npm error code E401\nnpm error Incorrect or missing password.',
  },
  {
    name: 'npm, engine-strict',
    step: 'install',
    message: 'does not work with this version of Node',
    hint: 'node_version',
    line: 'EBADENGINE',
    output:
      'npm error code EBADENGINE\nnpm error engine Unsupported engine\nnpm error engine Not compatible with your version of node/npm: a@1.0.0\nnpm error notsup Required: {"node":">=99"}',
  },
  {
    name: 'pnpm, lock out of date',
    step: 'install',
    message: 'pnpm-lock.yaml does not match',
    hint: 'Run pnpm install',
    line: 'OUTDATED_LOCKFILE',
    output:
      ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with <ROOT>/package.json\n\n  Failure reason:\n* 1 dependencies were added: is-odd@3.0.1',
  },
  {
    name: 'yarn 1, lock out of date',
    step: 'install',
    message: 'yarn.lock does not match',
    hint: 'Run yarn install',
    line: 'frozen-lockfile',
    output: '[1/4] Resolving packages...\nerror Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.',
  },
  {
    name: 'yarn 4, immutable',
    step: 'install',
    message: 'yarn.lock does not match',
    hint: 'Run yarn install',
    line: 'YN0028',
    output:
      '➤ YN0000: ┌ Post-resolution validation\n➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.\n➤ YN0000: └ Completed',
  },
  {
    name: 'node-gyp without python',
    step: 'install',
    message: 'must be compiled',
    hint: 'prebuilt',
    line: 'find Python',
    output:
      'npm error gyp info using node-gyp@11.4.2\nnpm error gyp ERR! find Python \nnpm error gyp ERR! find Python Python is not set from command line or npm configuration\nnpm error gyp ERR! configure error',
  },
  {
    name: 'integrity',
    step: 'install',
    message: 'not the one that the lock file was written for',
    hint: 'lock file anew',
    line: 'EINTEGRITY',
    output: 'npm error code EINTEGRITY\nnpm error sha512-a integrity checksum failed when using sha512',
  },
  {
    name: 'workspace: with npm',
    step: 'install',
    message: 'package of the workspace',
    hint: 'root_directory',
    line: 'EUNSUPPORTEDPROTOCOL',
    output: 'npm error code EUNSUPPORTEDPROTOCOL\nnpm error Unsupported URL Type "workspace:": workspace:*',
  },
  {
    name: 'disk full',
    step: 'install',
    code: 'storage_full',
    message: 'disk is full',
    hint: 'Free some space',
    line: 'ENOSPC',
    output: 'npm error code ENOSPC\nnpm error ENOSPC: no space left on device, write',
  },
]
