import { avatarLink, userLink } from '../links.ts';
import type { AccessLevel, User } from '../model.ts';
import type { World } from '../state.ts';
import { userById } from '../world/find.ts';

/** A user inside another answer. */
export function toUserBasic(world: World, user: User) {
  return {
    id: user.id,
    username: user.username,
    name: user.name,
    state: user.state,
    locked: false,
    avatar_url: avatarLink(world, user),
    web_url: userLink(world, user),
  };
}

export function toUserOrNull(world: World, id: number | null) {
  return id === null ? null : toUserBasic(world, userById(world, id));
}

/** A user as everybody sees them; `bot` is only here. */
export function toUser(world: World, user: User) {
  return {
    ...toUserBasic(world, user),
    created_at: user.createdAt.toISOString(),
    bio: '',
    location: '',
    public_email: null,
    linkedin: '',
    twitter: '',
    website_url: '',
    organization: '',
    job_title: '',
    pronouns: null,
    bot: user.bot,
    work_information: null,
    followers: 0,
    following: 0,
    is_followed: false,
    local_time: null,
  };
}

/** A user as they see themselves. */
export function toCurrentUser(world: World, user: User) {
  return {
    ...toUser(world, user),
    email: user.email,
    commit_email: user.email,
    confirmed_at: user.createdAt.toISOString(),
    last_activity_on: user.createdAt.toISOString().slice(0, 10),
    two_factor_enabled: false,
    external: false,
    private_profile: false,
    can_create_group: false,
    can_create_project: false,
    projects_limit: 0,
  };
}

export function toMember(world: World, user: User, accessLevel: AccessLevel) {
  return {
    ...toUserBasic(world, user),
    access_level: accessLevel,
    created_at: user.createdAt.toISOString(),
    expires_at: null,
    membership_state: 'active',
  };
}
