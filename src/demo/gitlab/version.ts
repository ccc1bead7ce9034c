export const GITLAB_VERSION = '18.5.1-ee';
export const GITLAB_REVISION = '9b4b2ab1f6d';
