import type { HelpArticle } from '../topic.ts'

export const deployingTopics: HelpArticle[] = [
  {
    id: 'git',
    title: 'Git access',
    summary: 'A repository is not found, asks for a password, or cannot be reached.',
    keywords: 'clone failed permission denied publickey authentication ssh token private repository branch project not connected',
    body: [
      'Homeport runs the `git` of this machine, as you: what `git ls-remote` reads in your terminal, it reads.',
      { run: 'git ls-remote https://example.com/me/my-app.git' },
      {
        list: [
          'git is missing: install it, and start Homeport again.',
          'A private repository over https: give a token as its password in the address, `https://NAME:TOKEN@example.com/me/my-app.git`. It is sealed at once, and no page and no log shows it again.',
          'Over ssh: the key has to be loaded, as nobody is there to type its passphrase. Try `ssh -T git@example.com`; a host that is asked for the first time has to be accepted there once.',
          'The branch does not exist: Settings of the project names it.',
          'A repository on this machine: `file:///home/me/my-app`, or deploy the folder itself.',
        ],
      },
      'A project without a git address takes folders and archives instead ([[uploads]]); Settings of the project gives it one later.',
    ],
  },
  {
    id: 'uploads',
    title: 'Archives',
    summary: 'What an archive may hold, and why one is refused.',
    keywords: 'upload zip tar.gz invalid_archive payload_too_large drag drop file size node_modules',
    body: [
      'A .zip or .tar.gz of up to 250 MiB, dropped on the list of projects or on a project, chosen by a button, or sent by a program:',
      { run: 'curl -H "Authorization: Bearer $TOKEN" -F file=@app.tar.gz http://127.0.0.1:4600/v1/projects/my-app/upload' },
      'A folder is packed by the command line, without what `.gitignore` and `.dockerignore` name:',
      { run: 'npx homeport deploy .' },
      { h: 'It is refused' },
      {
        list: [
          '`invalid_archive` names the entry and says why: links have to stay inside, and there may be no hard links, no devices, and no two names that differ in capital letters alone.',
          '`payload_too_large`: leave out what a build makes again. `node_modules` and `.git` are left out in any case, but they have to travel first.',
          'A browser sends files, not folders: pack the folder, or drop it in the desktop.',
        ],
      },
    ],
  },
  {
    id: 'previews',
    title: 'Pushes and previews',
    summary: 'A push deploys nothing, a branch has no preview, or its name looks odd.',
    keywords: 'branch watch webhook pull request commit automatic deploy',
    body: [
      'A project with a git address is watched: a repository of this machine by its files, one elsewhere about once a minute. A push to the production branch deploys it; every other branch that gets a commit has a preview of its own until the branch is deleted.',
      { run: 'npx homeport previews watch my-app', note: 'whether it is watched, and what fails' },
      { run: 'npx homeport previews check my-app', note: 'looks at once' },
      {
        list: [
          'A commit that was deployed by hand already is not deployed again.',
          'A branch that was there when the repository was linked gets its preview with its next commit.',
          'A stopped project is left alone until its next deployment.',
          'A repository that cannot be reached is asked ever more seldom, up to 15 minutes apart; nothing is lost.',
          'A preview sees the variables of preview, and a database only as a copy of its own, where you wish it (Previews of the project).',
          'A name such as `a-b-1f0c3a--shop`: another branch has `a-b--shop` already, or the name was too long for DNS.',
        ],
      },
    ],
  },
  {
    id: 'builds',
    title: 'Builds that fail',
    summary: 'What went wrong while packages were installed, the app was built, or it was started.',
    keywords:
      'build_failed install_failed start_failed detect_failed timeout npm ci lockfile ERESOLVE typescript module not found exit code error log',
    body: [
      'The page of the deployment has the reason on top, with the line of the log and a hint. The app that served before still serves. Mend it, then deploy again; or press Build again for the same source with the variables and settings of now.',
      { h: 'It is not clear what the app is' },
      'Homeport looks for `package.json`, a `Dockerfile`, or an `index.html`. If the app lies deeper in the repository, set Root directory in the project’s settings. A repository with several apps is one project for each: the message lists them.',
      { h: 'Installing packages' },
      {
        list: [
          'The lock file does not match `package.json`: run the install of your package manager, commit the lock file.',
          'ERESOLVE: two packages want different versions of a third. If the app works in spite of it, commit an `.npmrc` with the line `legacy-peer-deps=true`.',
          'A package must be compiled and there are no tools: take a version with prebuilt binaries, or a `Dockerfile` that installs `python3 make g++`.',
          'A package wants another Node: set Node version in the settings, or `engines` in `package.json`.',
          'A private package: add its token as a variable, and name it in `.npmrc`.',
          'The registry is not reached: [[offline]].',
        ],
      },
      { h: 'Building' },
      {
        list: [
          'A variable is missing: add it under Environment for production, or preview for a branch ([[environment]]).',
          'A file or package is not found, though it works on your machine: capital letters count here, and what is in `devDependencies` of your machine alone is not.',
          'TypeScript or a linter says no: the same command says the same on your machine.',
          'It was killed, or ran out of memory: [[memory]].',
          'It took too long: a build may take as long as the setting `build_timeout_s` says. A build that watches files never ends; use a command that builds once.',
        ],
      },
      { h: 'Static sites' },
      {
        list: [
          'The folder that is served needs an `index.html`, or a rule for `/`; else the build fails and names the files that are there.',
          'Rules lie in the files `_redirects` and `_headers` of that folder, in the format of Netlify and Cloudflare Pages; they are never served. A file that is there comes before a rule, unless its status ends in `!`. Rules without effect (conditions, requests passed on to another server) are named in the build log.',
        ],
      },
      { h: 'Starting' },
      {
        list: [
          'The command is not there: the package that has it must be in `dependencies`, or the start command be another.',
          'It says that a port is taken, or that it does not answer: [[health-check]].',
          'It exits at once: its own words are at the end of the build log. Often a variable or a database is missing.',
        ],
      },
    ],
  },
  {
    id: 'offline',
    title: 'Registries, proxies and no network',
    summary: 'Packages or images cannot be fetched: no network, a company’s proxy, a registry of your own.',
    keywords: 'offline proxy npmrc certificate SELF_SIGNED_CERT_IN_CHAIN ENOTFOUND ECONNREFUSED ETIMEDOUT docker hub pull rate limit google fonts',
    body: [
      'Homeport itself needs no network. A build needs one for packages that it has not fetched before, and Docker for base images, once.',
      {
        list: [
          'Certificates of a company: start Homeport with `NODE_EXTRA_CA_CERTS` naming the file; builds trust it too, in containers as well.',
          'A registry or a proxy: a file with settings of npm, pnpm and yarn, named in `HOMEPORT_NPMRC`.',
          '`E401` or `E403`: the registry wants a token. Add it as a variable, and in the app’s `.npmrc` write `//registry.example.com/:_authToken=${NPM_TOKEN}`.',
          'Docker Hub has a limit of pulls: sign in with `docker login` and fetch the image once with `docker pull`; Homeport takes what is there.',
          'Next.js fetches fonts from Google while it builds: keep them in the repository, with `next/font/local`.',
          'Nothing at hand to try without a network? [[samples]] need no packages.',
        ],
      },
      { run: 'HOMEPORT_NPMRC=/home/me/company.npmrc NODE_EXTRA_CA_CERTS=/home/me/company.crt npx homeport serve' },
    ],
  },
  {
    id: 'memory',
    title: 'Out of memory',
    summary: 'A build or an app was killed because it used more memory than it may.',
    keywords: 'out_of_memory OOMKilled killed exit code 137 heap limit SIGKILL javascript heap',
    body: [
      'An app may use as much as Memory in the project’s settings says; a plan caps that. A build has a limit of its own for the whole instance.',
      { run: 'npx homeport settings set build_memory_mb 4096' },
      {
        list: [
          'The build: switch source maps off, run fewer workers, or raise the limit above. With `JavaScript heap out of memory` also set the variable `NODE_OPTIONS` to `--max-old-space-size=3072`.',
          'The app: Metrics of the project shows how its memory grows. What grows without end is a leak; more memory only puts it off.',
          'Docker Desktop, Colima and others run in a virtual machine with memory of its own: raise it there.',
        ],
      },
    ],
  },
  {
    id: 'health-check',
    title: 'It does not answer the health check',
    summary: 'The app started, but listens on another port, on the wrong address, or answers too late.',
    keywords: 'port_not_detected health_check_failed EADDRINUSE PORT listens on another port localhost 127.0.0.1 0.0.0.0 bad gateway',
    body: [
      'Before its address leads to it, an app has to accept a connection at the port that the variable `PORT` names, and answer a request for `/`. Any answer will do but a server error. A `Dockerfile` with a `HEALTHCHECK` decides by that whether its app is well.',
      {
        list: [
          'In a container it has to listen on all addresses: `0.0.0.0`, not `127.0.0.1` or `localhost`. Many frameworks take `--host 0.0.0.0`.',
          'It waits for something while it starts, such as a database: the log says for what. Listen first, connect then.',
          'It answers 500 to `/`: open its log; a variable that is missing shows here first.',
        ],
      },
      'An app that leaves `PORT` alone is looked for on the ports that it opened: one that its `Dockerfile` names by `EXPOSE` first, then the first that answers HTTP. Requests go there, and the build log warns. Take `PORT` all the same, such as `server.listen(process.env.PORT ?? 3000)`: it saves the search, and where apps run as processes of this machine, two apps, or two versions of one, cannot share a fixed port.',
    ],
  },
]
